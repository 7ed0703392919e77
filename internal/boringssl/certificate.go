package boringssl

import (
	"bytes"
	"errors"
	"fmt"
	"time"
)

const (
	certificateName    = "CERTIFICATE"
	oldCertificateName = "X509 CERTIFICATE"
	trustedName        = "TRUSTED CERTIFICATE"
	revocationsName    = "X509 CRL"
)

// Certificate is what Envoy looks at in a certificate.
type Certificate struct {
	Serial              []byte // the bytes of the integer
	NotBefore, NotAfter time.Time
	Issuer, Subject     []byte // in DER
	CommonNames         []string
	IssuerNames         []string // the common names of the issuer
	DNSNames            []string
	OtherNames          int // IP addresses and URIs
	MustStaple          bool
	CA                  bool // basicConstraints says so
	Website             bool // it follows the rules for websites of the authorities that browsers trust (CA/Browser Forum)

	signature []byte // its algorithm: an OID
	algorithm []byte // of the public key: an OID
	curve     []byte // of an EC key: an OID
	key       []byte
	keyUsage  []byte // nil: any
}

// SelfIssued reports whether a certificate names itself as its issuer.
func (c *Certificate) SelfIssued() bool { return bytes.Equal(c.Issuer, c.Subject) }

// Outdated returns the hash in the signature if clients do not accept it any more; otherwise, it is empty.
func (c *Certificate) Outdated() string { return outdated[string(c.signature)] }

// Chain reads the certificates of a chain, the leaf first, or returns why Envoy cannot (TlsContext::loadCertificateChain in
// source/common/tls/context_impl.cc). A certificate that this package does not understand is nil.
func Chain(text []byte) (chain []*Certificate, err error) {
	p, names := pem(text), []string{certificateName, oldCertificateName, trustedName}
	for {
		b, err := p.of(names...)
		if err == errEnd && len(chain) == 0 {
			return nil, errors.New("it does not contain a certificate in PEM")
		}
		if err == errEnd {
			return chain, nil
		}
		if err == nil {
			err = b.unreadable("certificate")
		}
		if err == nil && len(chain) == 0 && b.followed() {
			err = errors.New("there is more than a certificate in its block")
		}
		if err != nil {
			return nil, err
		}
		chain, names = append(chain, parse(b.data)), names[:2]
	}
}

// unreadable returns why BoringSSL cannot read a block that is not a private key, if that is certain.
func (b *block) unreadable(what string) error {
	switch {
	case b.header != "":
		return fmt.Errorf("a %s in it has a header, or an empty line in the middle", what)
	case broken(b.data):
		return fmt.Errorf("a block named %s is cut off, or does not contain one", b.name)
	}
	return nil
}

// followed reports whether something is behind the certificate in a block that is not what BoringSSL writes there, a SEQUENCE.
func (b *block) followed() bool {
	rest := der(b.data)
	_, _, ok := rest.any()
	return ok && len(rest) > 0 && broken(rest)
}

// Authorities reads trusted certificates, or returns why Envoy cannot (DefaultCertValidator::initializeSslContexts in
// source/common/tls/cert_validator/default_validator.cc). A certificate that this package does not understand is nil.
func Authorities(text []byte) ([]*Certificate, error) {
	certificates, _, err := information(text)
	if err == nil && len(certificates) == 0 {
		err = errors.New("it does not contain a certificate in PEM")
	}
	return certificates, err
}

// Bundle returns why Envoy cannot read the certificates of a SPIFFE trust domain (SPIFFEValidator::SPIFFEValidator in
// source/extensions/transport_sockets/tls/cert_validator/spiffe/spiffe_validator.cc). Any block that BoringSSL knows is enough.
func Bundle(text []byte) error {
	certificates, lists, err := information(text)
	if err == nil && len(certificates) == 0 && lists == 0 && !bytes.Contains(text, []byte("PRIVATE KEY-----")) {
		err = errors.New("it does not contain a certificate in PEM")
	}
	return err
}

// DER returns why Envoy cannot read a certificate, if that is certain.
func DER(certificate []byte) error {
	if broken(certificate) {
		return errors.New("it is cut off, or not a certificate in DER")
	}
	return nil
}

// Revocations counts the revocation lists in a text, or returns why Envoy cannot read it. Envoy accepts a text without one.
func Revocations(text []byte) (int, error) {
	_, lists, err := information(text)
	return lists, err
}

// information follows PEM_X509_INFO_read_bio (crypto/pem/pem_info.cc).
func information(text []byte) (certificates []*Certificate, lists int, err error) {
	for p := pem(text); ; {
		b, err := p.next()
		if err == errEnd {
			return certificates, lists, nil
		}
		if err != nil {
			return nil, 0, err
		}
		switch b.name {
		case certificateName, oldCertificateName, trustedName:
			if err := b.unreadable("certificate"); err != nil {
				return nil, 0, err
			}
			certificates = append(certificates, parse(b.data))
		case revocationsName:
			if err := b.unreadable("revocation list"); err != nil {
				return nil, 0, err
			}
			lists++
		}
	}
}
