package boringssl_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/xdslint/xdslint/internal/boringssl"
	"github.com/xdslint/xdslint/internal/envoytest"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func block(name string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: name, Bytes: der})
}

// certify makes a certificate of a key, signed by itself.
func certify(key crypto.Signer, edit func(*x509.Certificate)) []byte {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(77), Subject: pkix.Name{CommonName: "shop.example.com"}, DNSNames: []string{"shop.example.com"},
		NotBefore: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2060, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	if edit != nil {
		edit(template)
	}
	return must(x509.CreateCertificate(rand.Reader, template, template, key.Public(), key))
}

// TestCertificates compares certificates and keys with the real Envoy.
func TestCertificates(t *testing.T) {
	envoytest.Need(t)
	ec, other := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)), must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	rsaKey, small := must(rsa.GenerateKey(rand.Reader, 2048)), must(rsa.GenerateKey(rand.Reader, 1024))
	_, ed, _ := ed25519.GenerateKey(rand.Reader)
	p8 := func(key any) []byte { return block("PRIVATE KEY", must(x509.MarshalPKCS8PrivateKey(key))) }
	sec1 := block("EC PRIVATE KEY", must(x509.MarshalECPrivateKey(ec)))
	pkcs1 := block("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(rsaKey))
	locked := block("ENCRYPTED PRIVATE KEY", []byte{0x30, 0})
	oldLocked := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Headers: map[string]string{"Proc-Type": "4,ENCRYPTED", "DEK-Info": "AES-256-CBC,00"}, Bytes: []byte{1}})
	plain := block("CERTIFICATE", certify(ec, nil))
	with := func(edit func(*x509.Certificate)) []byte { return block("CERTIFICATE", certify(ec, edit)) }
	onCurve := func(c elliptic.Curve) (chain, key []byte) {
		k := must(ecdsa.GenerateKey(c, rand.Reader))
		return block("CERTIFICATE", certify(k, nil)), p8(k)
	}
	p224, p224Key := onCurve(elliptic.P224())
	p384, p384Key := onCurve(elliptic.P384())
	p521, p521Key := onCurve(elliptic.P521())
	replaced := func(text []byte, old, by string) []byte { return bytes.Replace(text, []byte(old), []byte(by), 1) }
	broken := func(in string) []byte {
		return []byte("-----BEGIN CERTIFICATE-----\n" + in + "\n-----END CERTIFICATE-----\n")
	}
	body := strings.Split(strings.TrimSpace(string(plain)), "\n")
	for name, c := range map[string]struct{ chain, key []byte }{
		"plain":                       {plain, p8(ec)},
		"SEC 1":                       {plain, sec1},
		"parameters before the key":   {plain, append([]byte("-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n"), sec1...)},
		"another key":                 {plain, p8(other)},
		"key of another type":         {plain, p8(rsaKey)},
		"RSA":                         {block("CERTIFICATE", certify(rsaKey, nil)), p8(rsaKey)},
		"RSA, PKCS 1":                 {block("CERTIFICATE", certify(rsaKey, nil)), pkcs1},
		"small RSA":                   {block("CERTIFICATE", certify(small, nil)), p8(small)},
		"Ed25519":                     {block("CERTIFICATE", certify(ed, nil)), p8(ed)},
		"P-224":                       {p224, p224Key},
		"P-384":                       {p384, p384Key},
		"P-521":                       {p521, p521Key},
		"encrypted key":               {plain, locked},
		"encrypted key of old":        {plain, oldLocked},
		"no key in it":                {plain, plain},
		"text for a key":              {plain, []byte("key")},
		"text for a chain":            {[]byte("chain"), p8(ec)},
		"key for a chain":             {p8(ec), p8(ec)},
		"both in one":                 {append(p8(ec), plain...), append(append([]byte{}, plain...), p8(ec)...)},
		"key before another one":      {plain, append(p8(ec), p8(other)...)},
		"chain of two":                {append(append([]byte{}, plain...), block("CERTIFICATE", certify(other, nil))...), p8(ec)},
		"wrong order":                 {append(block("CERTIFICATE", certify(other, nil)), plain...), p8(ec)},
		"broken second":               {append(append([]byte{}, plain...), broken("AAAA")...), p8(ec)},
		"unfinished second":           {append(append([]byte{}, plain...), "-----BEGIN CERTIFICATE-----\nMII\n"...), p8(ec)},
		"trusted second":              {append(append([]byte{}, plain...), block("TRUSTED CERTIFICATE", []byte("x"))...), p8(ec)},
		"other second":                {append(append([]byte{}, plain...), block("X509 CRL", []byte("x"))...), p8(ec)},
		"text around":                 {append([]byte("subject=shop\n"), append(plain, "end\n"...)...), p8(ec)},
		"old name":                    {block("X509 CERTIFICATE", certify(ec, nil)), p8(ec)},
		"trusted":                     {block("TRUSTED CERTIFICATE", certify(ec, nil)), p8(ec)},
		"request":                     {block("CERTIFICATE REQUEST", certify(ec, nil)), p8(ec)},
		"cut off":                     {block("CERTIFICATE", certify(ec, nil)[:100]), p8(ec)},
		"more behind":                 {block("CERTIFICATE", append(certify(ec, nil), 1, 2)), p8(ec)},
		"bad base64":                  {replaced(plain, "MII", "M!I"), p8(ec)},
		"base64 without its end":      {replaced(broken(base64.StdEncoding.EncodeToString(certify(ec, nil))), "=", ""), p8(ec)},
		"empty block":                 {broken(""), p8(ec)},
		"no END":                      {[]byte(strings.Join(body[:len(body)-1], "\n")), p8(ec)},
		"another END":                 {replaced(plain, "END CERTIFICATE", "END CERT"), p8(ec)},
		"END with more dashes":        {replaced(plain, "END CERTIFICATE-----", "END CERTIFICATE------"), p8(ec)},
		"spaces at ends of lines":     {[]byte(strings.Join(body, " \t\r\n")), p8(ec)},
		"spaces at starts of lines":   {[]byte(body[0] + "\n  " + strings.Join(body[1:len(body)-1], "\n  ") + "\n" + body[len(body)-1]), p8(ec)},
		"indented":                    {[]byte("  " + strings.Join(body, "\n  ")), p8(ec)},
		"in one line":                 {[]byte(strings.Join(body, " ")), p8(ec)},
		"escaped ends of lines":       {[]byte(strings.Join(body, `\n`)), p8(ec)},
		"body in one line":            {[]byte(body[0] + "\n" + strings.Join(body[1:len(body)-1], "") + "\n" + body[len(body)-1]), p8(ec)},
		"empty line first":            {[]byte(body[0] + "\n\n" + strings.Join(body[1:], "\n")), p8(ec)},
		"empty line in the middle":    {[]byte(strings.Join(body[:3], "\n") + "\n\n" + strings.Join(body[3:], "\n")), p8(ec)},
		"empty line last":             {[]byte(strings.Join(body[:len(body)-1], "\n") + "\n\n" + body[len(body)-1]), p8(ec)},
		"empty lines between all":     {[]byte(strings.Join(body, "\n\n")), p8(ec)},
		"byte order mark":             {append([]byte("\xef\xbb\xbf"), plain...), p8(ec)},
		"DER":                         {certify(ec, nil), p8(ec)},
		"signs certificates only":     {with(func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageCertSign }), p8(ec)},
		"agrees on keys only":         {with(func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageKeyAgreement }), p8(ec)},
		"signs":                       {with(func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign }), p8(ec)},
		"RSA that signs certificates": {block("CERTIFICATE", certify(rsaKey, func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageCertSign })), p8(rsaKey)},
		"expired":                     {with(func(c *x509.Certificate) { c.NotAfter = c.NotBefore.Add(time.Hour) }), p8(ec)},
		"for clients":                 {with(func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} }), p8(ec)},
		"no names":                    {with(func(c *x509.Certificate) { c.Subject, c.DNSNames = pkix.Name{}, nil }), p8(ec)},
		"critical unknown extension": {with(func(c *x509.Certificate) {
			c.ExtraExtensions = []pkix.Extension{{Id: []int{1, 2, 3, 4}, Critical: true, Value: []byte{5, 0}}}
		}), p8(ec)},
		"malformed alternative names": {with(func(c *x509.Certificate) {
			c.DNSNames = nil
			c.ExtraExtensions = []pkix.Extension{{Id: []int{2, 5, 29, 17}, Value: []byte{1}}}
		}), p8(ec)},
		"key that is not one":          {plain, block("PRIVATE KEY", []byte("abc"))},
		"EC key in a block of RSA":     {plain, block("RSA PRIVATE KEY", must(x509.MarshalECPrivateKey(ec)))},
		"key without a blank line":     {plain, replaced(sec1, "KEY-----\n", "KEY-----\nDEK-Info: x\n")},
		"PKCS 8 in a block of RSA":     {block("CERTIFICATE", certify(rsaKey, nil)), block("RSA PRIVATE KEY", must(x509.MarshalPKCS8PrivateKey(rsaKey)))},
		"PKCS 8 in a block of EC":      {plain, block("EC PRIVATE KEY", must(x509.MarshalPKCS8PrivateKey(ec)))},
		"RSA PKCS 8 in a block of EC":  {block("CERTIFICATE", certify(rsaKey, nil)), block("EC PRIVATE KEY", must(x509.MarshalPKCS8PrivateKey(rsaKey)))},
		"public key":                   {plain, block("PUBLIC KEY", must(x509.MarshalPKIXPublicKey(ec.Public())))},
		"openssh":                      {plain, block("OPENSSH PRIVATE KEY", []byte("x"))},
		"negative serial, odd version": {with(func(c *x509.Certificate) { c.SerialNumber = new(big.Int).Lsh(big.NewInt(1), 159) }), p8(ec)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			common := fmt.Sprintf(`{"tls_certificates": [{"certificate_chain": %s, "private_key": %s}]}`, source(c.chain), source(c.key))
			agree(t, envoytest.Newest, fault(c.chain, c.key), common)
		})
	}
}

// fault returns why Envoy rejects a certificate with a key.
func fault(text, private []byte) string {
	chain, err := boringssl.Chain(text)
	if err != nil {
		return err.Error()
	}
	if chain[0] != nil {
		if why, _ := chain[0].Unfit(); why != "" {
			return why
		}
	}
	key, err := boringssl.PrivateKey(private, nil, true)
	switch {
	case err != nil:
		return err.Error()
	case chain[0] != nil && key.Differs(chain[0]):
		return "it is the key of another certificate"
	}
	return ""
}

// TestAuthorities compares trusted certificates and revocation lists with the real Envoy.
func TestAuthorities(t *testing.T) {
	envoytest.Need(t)
	ec := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	ca := certify(ec, func(c *x509.Certificate) {
		c.IsCA, c.BasicConstraintsValid, c.KeyUsage, c.SubjectKeyId = true, true, x509.KeyUsageCertSign|x509.KeyUsageCRLSign, []byte{1}
	})
	list := must(x509.CreateRevocationList(rand.Reader, &x509.RevocationList{Number: big.NewInt(1), NextUpdate: time.Now().Add(time.Hour)}, must(x509.ParseCertificate(ca)), ec))
	trusted, revoked := block("CERTIFICATE", ca), block("X509 CRL", list)
	key := block("PRIVATE KEY", must(x509.MarshalPKCS8PrivateKey(ec)))
	for name, c := range map[string]struct{ ca, crl []byte }{
		"plain":             {trusted, revoked},
		"no certificate":    {[]byte("ca"), nil},
		"only a key":        {key, nil},
		"only a list":       {revoked, nil},
		"key and CA":        {append(key, trusted...), nil},
		"both in one":       {append(append([]byte{}, trusted...), revoked...), nil},
		"broken block":      {append(append([]byte{}, trusted...), "-----BEGIN X-----\n"...), nil},
		"other block":       {append(append([]byte{}, trusted...), block("X", []byte("x"))...), nil},
		"broken CA":         {block("CERTIFICATE", ca[:50]), nil},
		"broken list in CA": {append(append([]byte{}, trusted...), block("X509 CRL", list[:50])...), nil},
		"text for a list":   {trusted, []byte("crl")},
		"CA for a list":     {trusted, trusted},
		"broken list":       {trusted, block("X509 CRL", list[:50])},
		"unfinished list":   {trusted, bytes.TrimSuffix(revoked, []byte("-----END X509 CRL-----\n"))},
		"list with a blank": {trusted, bytes.Replace(revoked, []byte("-----\n"), []byte("-----\nFoo: x\n\n"), 1)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := boringssl.Authorities(c.ca)
			common := fmt.Sprintf(`{"validation_context": {"trusted_ca": %s}}`, source(c.ca))
			if c.crl != nil {
				common = fmt.Sprintf(`{"validation_context": {"trusted_ca": %s, "crl": %s}}`, source(c.ca), source(c.crl))
				_, err = boringssl.Revocations(c.crl)
			}
			agree(t, envoytest.Newest, fmt.Sprint(either(err)), common)
		})
	}
}

func either(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
