package route

import (
	claimv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/rate_limit_descriptors/jwt_claim/v3"

	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/read"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "jwt-claim-without-source",
	Severity: lint.Error,
	Summary:  "a rate limit by a claim does not say which header or cookie has the token, or names both",
	Links:    []string{"JwtClaimDescriptorFactory::createDescriptorProducerFromProto (source/extensions/rate_limit_descriptors/jwt_claim/config.cc)"},
	Run: read.Each(read.Of(func(p *lint.Pass, at lint.At, m *claimv3.Descriptor) {
		r := lint.Rejection{Upstream: "jwt_claim descriptor: exactly one of header_name or cookie must be set"}
		switch {
		case m.GetHeaderName() == "" && m.GetCookie() == "":
			r.Message, r.Help = "the descriptor does not say where the token is", "add header_name: authorization and value_prefix: \"Bearer \", or cookie"
			p.Reject(at, r)
		case m.GetHeaderName() != "" && m.GetCookie() != "":
			r.Message, r.Help = "header_name cannot be combined with cookie", "keep one of them"
			p.Reject(at.Field("cookie").Key(), r)
		}
	})),
})
