package tls

import (
	"fmt"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

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

func privateKeyIn(p *lint.Pass, at lint.At, key *corev3.DataSource, password bool) (*boringssl.Key, error) {
	return parsed(p, at, key, fmt.Sprint("private key, with a password: ", password), func(text []byte) (*boringssl.Key, error) {
		return boringssl.PrivateKey(text, password)
	})
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
