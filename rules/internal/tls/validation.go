package tls

import (
	"google.golang.org/protobuf/proto"

	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

// validationOf returns what a context verifies its peers with; nil: nothing. It is not known if it comes over SDS.
func validationOf(p *lint.Pass, c *tlsv3.CommonTlsContext) (v *tlsv3.CertificateValidationContext, known bool) {
	combined := c.GetCombinedValidationContext()
	switch {
	case c.GetValidationContextType() == nil:
		return nil, true
	case c.GetValidationContext() != nil:
		return c.GetValidationContext(), true
	case combined != nil:
		fixed := fixedValidation(p, combined.GetValidationContextSdsSecretConfig())
		return mergedValidation(combined, fixed), fixed != nil
	}
	v = fixedValidation(p, c.GetValidationContextSdsSecretConfig())
	return v, v != nil
}

// fixedValidation returns the validation context of a secret in the bootstrap; nil: it comes over SDS, or there is none.
func fixedValidation(p *lint.Pass, config *tlsv3.SdsSecretConfig) *tlsv3.CertificateValidationContext {
	if config == nil || awaits(config) {
		return nil
	}
	r := p.Snapshot.Booted(graph.Secret, config.GetName())
	if r == nil {
		return nil
	}
	s, _ := r.Message.(*tlsv3.Secret)
	return s.GetValidationContext()
}

func mergedValidation(m *tlsv3.CommonTlsContext_CombinedCertificateValidationContext, secret *tlsv3.CertificateValidationContext) *tlsv3.CertificateValidationContext {
	merged := &tlsv3.CertificateValidationContext{}
	proto.Merge(merged, m.GetDefaultValidationContext())
	proto.Merge(merged, secret)
	return merged
}
