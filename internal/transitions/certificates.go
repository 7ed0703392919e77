package transitions

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net/url"
	"strings"
	"sync"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/proto"
)

// authority signs the certificates of a run, which replace the placeholders in its files.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey

	mu     sync.Mutex
	issued map[string]pair // by the placeholder: equal ones stay equal, and a changed one gets another certificate
	names  map[string]bool // that validation contexts want to see
}

type pair struct{ chain, key []byte } // as PEM

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	return &authority{certificate: certificate, key: key, issued: map[string]pair{}, names: map[string]bool{}}, err
}

// issue makes the certificate of a placeholder.
func (a *authority) issue(placeholder string) (pair, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if p, ok := a.issued[placeholder]; ok {
		return p, nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(int64(len(a.issued) + 2)), Subject: pkix.Name{CommonName: "leaf"}, DNSNames: []string{"localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for name := range a.names {
		if uri, err := url.Parse(name); err == nil && strings.Contains(name, "://") {
			template.URIs = append(template.URIs, uri)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &key.PublicKey, a.key)
	if err != nil {
		return pair{}, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	p := pair{pemOf("CERTIFICATE", der), pemOf("PRIVATE KEY", private)}
	a.issued[placeholder] = p
	return p, err
}

func pemOf(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// pair issues a certificate for a client or server other than Envoy.
func (a *authority) pair(name string) (tls.Certificate, error) {
	p, err := a.issue(name)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(p.chain, p.key)
}

// expect adds names against which certificates will be matched. Certificates that are issued later have them.
func (a *authority) expect(m proto.Message) {
	each(m, func(c *tlsv3.CertificateValidationContext) {
		for _, san := range c.GetMatchTypedSubjectAltNames() {
			if name := san.GetMatcher().GetExact(); name != "" {
				a.names[name] = true
			}
		}
	})
	each(m, func(u *tlsv3.UpstreamTlsContext) {
		if u.GetSni() != "" {
			a.names[u.GetSni()] = true
		}
	})
}

// fill replaces the placeholders of a file by certificates.
func (a *authority) fill(m proto.Message) error {
	inline := func(bytes []byte) *corev3.DataSource {
		return &corev3.DataSource{Specifier: &corev3.DataSource_InlineBytes{InlineBytes: bytes}}
	}
	placeholder, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return err
	}
	switch m := m.(type) {
	case *tlsv3.TlsCertificate:
		p, err := a.issue(string(placeholder))
		if err != nil {
			return err
		}
		proto.Reset(m)
		m.CertificateChain, m.PrivateKey = inline(p.chain), inline(p.key)
	case *tlsv3.CertificateValidationContext:
		if m.GetTrustedCa() == nil {
			return nil
		}
		// What it trusts stays the same; a second certificate, which signs nothing, makes a changed content a changed one.
		other, err := a.issue(string(placeholder))
		if err != nil {
			return err
		}
		m.TrustedCa = inline(append(pemOf("CERTIFICATE", a.certificate.Raw), other.chain...))
	}
	return nil
}
