package main

import (
	"crypto/tls"
	"crypto/x509"
	"testing"
	"time"
)

// TestCertificate: a client with ca.crt trusts the certificate for each of its names, for no other name, and only while
// it is valid.
func TestCertificate(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	files, err := newCertificateFiles([]string{"xdslint.xdslint-system.svc", "10.0.0.5"}, now, 30)
	if err != nil {
		t.Fatal(err)
	}
	text := map[string][]byte{}
	for _, f := range files {
		text[f.name] = f.text
	}
	pair, err := tls.X509KeyPair(text["tls.crt"], text["tls.key"])
	if err != nil {
		t.Fatal(err)
	}
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM(text["ca.crt"]) {
		t.Fatal("ca.crt is not a certificate")
	}
	for _, c := range []struct {
		name  string
		at    time.Time
		valid bool
	}{
		{"xdslint.xdslint-system.svc", now, true},
		{"10.0.0.5", now, true},
		{"10.0.0.5", now.AddDate(0, 0, 29), true},
		{"10.0.0.5", now.AddDate(0, 0, 31), false},
		{"xdslint.default.svc", now, false},
		{"10.0.0.6", now, false},
	} {
		_, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: authorities, DNSName: c.name, CurrentTime: c.at})
		if (err == nil) != c.valid {
			t.Errorf("as %s at %s: %v", c.name, c.at, err)
		}
	}
}
