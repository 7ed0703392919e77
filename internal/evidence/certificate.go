package evidence

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
)

// bundle is the name of the file in which a system keeps the authorities that it trusts.
const bundle = "ca-certificates"

// authority makes certificates for names. "ca" and the bundle of a system have its own.
type authority struct {
	mu     sync.Mutex
	serial int64
	made   map[string]*pair
}

// pair is a certificate with its key, as PEM.
type pair struct {
	cert, key []byte
	tls       tls.Certificate
}

// file returns the content of a file with an extension.
func (p *pair) file(ext string) []byte {
	if ext == ".key" {
		return p.key
	}
	return p.cert
}

func newAuthority() *authority { return &authority{made: map[string]*pair{}} }

// pair returns the certificate of a name, which it makes when it is first asked for.
func (a *authority) pair(name string) (*pair, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	ca, err := a.make("ca", nil)
	if err != nil || name == bundle {
		return ca, err
	}
	return a.make(name, ca)
}

func (a *authority) make(name string, ca *pair) (*pair, error) {
	if made := a.made[name]; made != nil {
		return made, nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	a.serial++
	template := &x509.Certificate{
		SerialNumber: big.NewInt(a.serial), Subject: pkix.Name{CommonName: name}, BasicConstraintsValid: true, IsCA: ca == nil,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if uri, err := url.Parse(name); err == nil && strings.Contains(name, "://") {
		template.URIs = []*url.URL{uri}
	} else {
		template.DNSNames = []string{name}
	}
	parent, signer := template, any(key)
	if ca != nil {
		parent, signer = ca.tls.Leaf, ca.tls.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return nil, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	made := &pair{
		cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		key:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
	}
	if made.tls, err = tls.X509KeyPair(made.cert, made.key); err != nil {
		return nil, err
	}
	a.made[name] = made
	return made, nil
}
