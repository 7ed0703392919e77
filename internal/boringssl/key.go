package boringssl

import (
	"bytes"
	"errors"
	"fmt"
	"math/bits"
)

// Unfit returns why Envoy rejects a certificate for itself, and the gist of its message (SSLCredential::SetLeafCert in BoringSSL's
// ssl/ssl_credential.cc, ContextImpl::ContextImpl in source/common/tls/context_impl.cc). It returns "" if the certificate is fit, or if
// that is not known.
func (c *Certificate) Unfit() (why, upstream string) {
	const unread = "Failed to load certificate chain from"
	switch string(c.algorithm) {
	case oidRSA:
		if size := c.modulus(); size > 0 && size < 2048 {
			return fmt.Sprintf("its RSA key has %d bits, and at least 2048 are required", size),
				"only RSA certificates with 2048-bit or larger keys are supported"
		}
	case oidEC:
		if len(c.curve) > 0 && !curves[string(c.curve)] {
			return "the curve of its key is not P-256, P-384 or P-521", unread
		}
		if len(c.keyUsage) > 0 && c.keyUsage[0]&0x80 == 0 {
			return "its key usage does not include digitalSignature", unread
		}
	}
	if unsupported[string(c.algorithm)] {
		return "its key is not an RSA, EC or Ed25519 key", unread
	}
	return "", ""
}

// curves are those that Envoy accepts in certificates.
var curves = map[string]bool{
	"\x2a\x86\x48\xce\x3d\x03\x01\x07": true, // P-256
	"\x2b\x81\x04\x00\x22":             true, // P-384
	"\x2b\x81\x04\x00\x23":             true, // P-521
}

// unsupported are algorithms of keys that BoringSSL does not use for TLS.
var unsupported = map[string]bool{
	"\x2a\x86\x48\xce\x38\x04\x01":         true, // DSA
	"\x2b\x65\x71":                         true, // Ed448
	"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0a": true, // RSASSA-PSS
}

// modulus returns the size of an RSA key in bits; 0: not known.
func (c *Certificate) modulus() int {
	n, _ := rsaModulus(c.key)
	if len(n) == 0 {
		return 0
	}
	return (len(n)-1)*8 + bits.Len8(n[0])
}

// rsaModulus returns the modulus of an RSAPublicKey, without leading zeros.
func rsaModulus(d der) ([]byte, bool) {
	key, ok := d.get(tagSequence)
	if !ok {
		return nil, false
	}
	n, ok := key.get(tagInteger)
	return bytes.TrimLeft(n, "\x00"), ok
}

// Key is a private key, as far as it is known: its public half can be compared.
type Key struct {
	algorithm string // empty: not known
	public    []byte // of RSA the modulus; nil: not known
}

// Differs reports whether it is certain that a key is not that of a certificate.
func (k *Key) Differs(c *Certificate) bool {
	switch {
	case k.algorithm == "":
		return false
	case k.algorithm != string(c.algorithm):
		return true
	case k.public == nil:
		return false
	case k.algorithm == oidRSA:
		n, ok := rsaModulus(c.key)
		return ok && !bytes.Equal(n, k.public)
	}
	return len(k.public) == len(c.key) && !bytes.Equal(k.public, c.key) // points can also be compressed
}

// PrivateKey reads a private key, or returns why Envoy cannot (TlsContext::loadPrivateKey in source/common/tls/context_impl.cc). known
// reports whether the password is known; it is nil if there is none.
func PrivateKey(text, password []byte, known bool) (*Key, error) {
	p := pem(text)
	b, err := p.of("PRIVATE KEY", encryptedName, "RSA PRIVATE KEY", "EC PRIVATE KEY", "DSA PRIVATE KEY")
	switch {
	case err == errEnd:
		return nil, errors.New("it does not contain a private key in PEM")
	case err != nil:
		return nil, err
	case b.encrypted():
		return b.unlocked(password, known)
	}
	if err := b.unreadable("private key"); err != nil {
		return nil, err
	}
	if b.name == encryptedName {
		return b.unlocked(password, known)
	}
	key, ok := keyIn(b.name, b.data)
	if !ok {
		return nil, fmt.Errorf("its block named %s does not contain one", b.name)
	}
	return key, nil
}

const encryptedName = "ENCRYPTED PRIVATE KEY"

// unlocked reads an encrypted key.
func (b *block) unlocked(password []byte, known bool) (*Key, error) {
	if known && len(password) == 0 {
		return nil, errNoPassword
	}
	password = upToNUL(password)
	if len(password) > maxPassword {
		return nil, errLongPassword
	}
	l, err := b.lock()
	if err != nil || l == nil || !known || b.encrypted() && b.name == encryptedName { // encrypted twice
		return &Key{}, err
	}
	plain, err := l.unlock(password)
	if err != nil || plain == nil {
		return &Key{}, err
	}
	key, ok := keyIn(b.name, plain)
	if !ok {
		return nil, ErrPassword // in one of 256 cases, what a wrong password makes looks like the end of a key
	}
	return key, nil
}

// keyIn reads the content of a block of this name (d2i_PrivateKey in crypto/evp/evp_asn1.cc): in one with the name of an algorithm, it can
// also be a PrivateKeyInfo.
func keyIn(name string, content der) (key *Key, ok bool) {
	algorithm := ""
	switch name {
	case "RSA PRIVATE KEY":
		algorithm = oidRSA
		key, ok = rsaKey(content)
	case "EC PRIVATE KEY":
		algorithm = oidEC
		key, ok = ecKey(content)
	case "DSA PRIVATE KEY":
		return &Key{}, true
	}
	if !ok {
		key, ok = pkcs8(content)
		ok = ok && (algorithm == "" || key.algorithm == "" || key.algorithm == algorithm)
	}
	return key, ok
}

// pkcs8 reads a PrivateKeyInfo (RFC 5208).
func pkcs8(d der) (*Key, bool) {
	info, _ := d.get(tagSequence)
	version := info.skip(tagInteger)
	algorithm, _ := info.get(tagSequence)
	oid, _ := algorithm.get(tagOID)
	inner, ok := info.get(tagOctetString)
	switch {
	case !version || !ok || oid == nil:
		return nil, false
	case string(oid) == oidRSA:
		return rsaKey(inner)
	case string(oid) == oidEC:
		return ecKey(inner)
	case string(oid) == oidEd25519:
		return &Key{algorithm: oidEd25519}, true
	}
	return &Key{}, true
}

// rsaKey reads an RSAPrivateKey (RFC 8017).
func rsaKey(d der) (*Key, bool) {
	key, _ := d.get(tagSequence)
	version := key.skip(tagInteger)
	n, ok := key.get(tagInteger)
	return &Key{oidRSA, bytes.TrimLeft(n, "\x00")}, version && ok
}

// ecKey reads an ECPrivateKey (RFC 5915). The public key in it is optional.
func ecKey(d der) (*Key, bool) {
	key, _ := d.get(tagSequence)
	if !key.skip(tagInteger) || !key.skip(tagOctetString) {
		return nil, false
	}
	key.skip(tagExplicit) // the curve
	wrapped, _ := key.get(tagExplicit | 1)
	public, _ := wrapped.bits()
	return &Key{oidEC, public}, true
}
