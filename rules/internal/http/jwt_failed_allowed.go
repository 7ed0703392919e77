package http

import (
	jwtv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/jwt_authn/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "jwt-failed-allowed",
	Severity: lint.Warning,
	Summary:  "jwt_authn lets invalid tokens pass, and nothing behind it looks at the result",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/extensions/filters/http/jwt_authn/v3/config.proto#extensions-filters-http-jwt-authn-v3-jwtrequirement",
		"https://github.com/envoyproxy/envoy/issues/8909",
	},
	Run: eachConfig(func(p *lint.Pass, at lint.At, m *jwtv3.JwtRequirement) {
		if m.GetAllowMissingOrFailed() == nil {
			return
		}
		config, place := graph.Around[*jwtv3.JwtAuthentication](at.Place)
		if place == nil || showsResult(config) || !lastToDecide(place) {
			return
		}
		p.Report(at.Field("allow_missing_or_failed"), lint.Diagnostic{
			Message: "requests with a forged or expired token pass, and nothing checks the result",
			Notes:   []string{"no filter behind jwt_authn can reject them, and no provider passes the verified claims to the upstream"},
			Help:    "write allow_missing to let only requests without a token pass; or reject the others by an rbac filter on the metadata of jwt_authn",
		})
	}),
})

// showsResult reports whether an upstream can see which tokens are valid.
func showsResult(m *jwtv3.JwtAuthentication) bool {
	for _, provider := range m.GetProviders() {
		if provider.GetForward() || provider.GetForwardPayloadHeader() != "" || len(provider.GetClaimToHeaders()) > 0 {
			return true
		}
	}
	return false
}

// lastToDecide reports whether it is certain that no filter after the one around a place rejects a request for who sends it. Within the
// configuration of a route, that is not known.
func lastToDecide(place *graph.Place) bool {
	own, at := graph.Around[*hcmv3.HttpFilter](place)
	manager, around := graph.Around[*hcmv3.HttpConnectionManager](place)
	if at == nil || around == nil {
		return false
	}
	after, found := false, false
	for _, f := range envoy.HTTPFiltersOf(around.At(), "http_filters", manager.GetHttpFilters()) {
		if after && !f.Passive() {
			return false
		}
		if f.Message == own {
			after, found = true, true
		}
	}
	return found
}
