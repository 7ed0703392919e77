package reference

import (
	"fmt"

	jwtv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/jwt_authn/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "jwt-provider-unknown",
	Severity: lint.Error,
	Summary:  "a requirement of jwt_authn names a provider that the filter does not have",
	Links:    []string{"ProviderVerifierImpl::create (source/extensions/filters/http/jwt_authn/verifier.cc)"},
	Run: inside(graph.JWTProvider, func(p *lint.Pass, e *graph.Edge) {
		if !envoy.OuterRead(p.Target.Extensions(), e.Place) {
			return
		}
		d := lint.Diagnostic{
			Message:  fmt.Sprintf("the filter does not have a provider named %q", e.Target),
			Notes:    []string{envoy.OnReject(e.From)},
			Help:     "declare it under providers",
			Rejected: e.From.State == "",
			Upstream: fmt.Sprintf("Required provider ['%s'] is not configured.", e.Target),
		}
		declared := func(graph.View) (names []string) {
			filter, _ := graph.Around[*jwtv3.JwtAuthentication](e.Place)
			for name := range filter.GetProviders() {
				names = append(names, name)
			}
			return names
		}
		d.Guess(e.Target, declared, correct(e))
		p.ReportEdge(e, d)
	}),
})
