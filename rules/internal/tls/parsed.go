package tls

import (
	"fmt"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/boringssl"
	"github.com/xdslint/xdslint/lint"
)

func authoritiesIn(p *lint.Pass, at lint.At, ca *corev3.DataSource) ([]*boringssl.Certificate, error) {
	return parsed(p, at, ca, "authorities", boringssl.Authorities)
}

func chainIn(p *lint.Pass, at lint.At, chain *corev3.DataSource) ([]*boringssl.Certificate, error) {
	return parsed(p, at, chain, "chain", boringssl.Chain)
}

func revocationsIn(p *lint.Pass, at lint.At, lists *corev3.DataSource) (int, error) {
	return parsed(p, at, lists, "revocations", boringssl.Revocations)
}

func privateKeyIn(p *lint.Pass, at lint.At, c *tlsv3.TlsCertificate) (*boringssl.Key, error) {
	return unlocked(p, at, c.GetPrivateKey(), "private key", c, boringssl.PrivateKey)
}

func pkcs12In(p *lint.Pass, at lint.At, c *tlsv3.TlsCertificate) error {
	_, err := unlocked(p, at, c.GetPkcs12(), "PKCS #12", c, func(text, password []byte, known bool) (struct{}, error) {
		return struct{}{}, boringssl.PKCS12(text, password, known)
	})
	return err
}

// trial is the key of the outcome for a text and a password.
type trial struct{ as, text, password string }

// unlocked parses what a data source holds, with the password of a certificate. A password is tried once on each text, since that takes long.
func unlocked[V any](p *lint.Pass, at lint.At, s *corev3.DataSource, as string, c *tlsv3.TlsCertificate, parse func(text, password []byte, known bool) (V, error)) (V, error) {
	password, known := passwordOf(at, c)
	if len(password) == 0 {
		return parsed(p, at, s, fmt.Sprint(as, ", with a password that is known: ", known), func(text []byte) (V, error) { return parse(text, password, known) })
	}
	text, _ := dataOf(at, s)
	o := lint.Shared(p, trial{as, string(text), string(password)}, func() (o outcome[V]) {
		o.value, o.err = parse(text, password, known)
		return o
	})
	return o.value, o.err
}

// passwordOf returns the password of a certificate, nil if it has none, and reports whether it is known.
func passwordOf(at lint.At, c *tlsv3.TlsCertificate) (password []byte, known bool) {
	if c.GetPassword() == nil {
		return nil, true
	}
	return dataOf(at, c.GetPassword())
}

// outcome is what came of parsing a text.
type outcome[V any] struct {
	value V
	err   error
}

// parsing is the key of the outcome for a file.
type parsing struct {
	file *graph.DataFile
	as   string
}

// parsed parses what a data source holds: a file once, since many contexts can name one, such as that with all public authorities.
func parsed[V any](p *lint.Pass, at lint.At, s *corev3.DataSource, as string, parse func(text []byte) (V, error)) (V, error) {
	do := func() (o outcome[V]) {
		text, _ := dataOf(at, s)
		o.value, o.err = parse(text)
		return o
	}
	file := at.Resource().Files[s.GetFilename()]
	if file == nil {
		o := do()
		return o.value, o.err
	}
	o := lint.Shared(p, parsing{file, as}, do)
	return o.value, o.err
}
