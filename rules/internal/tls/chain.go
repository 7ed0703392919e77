package tls

import (
	"fmt"

	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/internal/boringssl"
	"github.com/xdslint/xdslint/lint"
)

// chainOf returns the certificates of a chain, or nothing if they are not known.
func chainOf(p *lint.Pass, at lint.At, c *tlsv3.TlsCertificate) []*boringssl.Certificate {
	if _, ok := dataOf(at, c.GetCertificateChain()); !ok || c.GetPkcs12() != nil {
		return nil
	}
	chain, _ := chainIn(p, at, c.GetCertificateChain())
	return chain
}

// leafOf returns the certificate itself, the first of the chain, or nil if it is not known.
func leafOf(p *lint.Pass, at lint.At, c *tlsv3.TlsCertificate) *boringssl.Certificate {
	chain := chainOf(p, at, c)
	if len(chain) == 0 {
		return nil
	}
	return chain[0]
}

// member names a certificate by its index in a chain.
func member(i int) string {
	if i == 0 {
		return "this certificate"
	}
	return fmt.Sprintf("certificate %d of this chain", i+1)
}
