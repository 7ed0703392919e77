package envoy

import (
	"maps"
	"slices"
	"strings"

	extauthzv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_authz/v3"
	jwtv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/jwt_authn/v3"
)

// Envoy selects the route of a request before its HTTP filters run, and again only if a filter clears the route cache (clearRouteCache in
// source/common/http/conn_manager_impl.cc).

// keepsRoute are filters that never clear the route cache.
var keepsRoute = map[string]bool{
	"buffer": true, "compressor": true, "cors": true, "csrf": true, "fault": true, "header_to_metadata": true, "local_ratelimit": true, "rbac": true,
	"router": true, "set_metadata": true,
}

// KeepsRoute reports whether it is certain that a filter does not let Envoy select the route again.
func (f HTTPFilter) KeepsRoute() bool {
	switch m := f.Config.(type) {
	case *jwtv3.JwtAuthentication:
		clears := func(p *jwtv3.JwtProvider) bool { return p.GetClearRouteCache() }
		return !slices.ContainsFunc(slices.Collect(maps.Values(m.GetProviders())), clears)
	case *extauthzv3.ExtAuthz:
		return !m.GetClearRouteCache()
	}
	return keepsRoute[f.Kind]
}

// ClaimHeaders returns the names of the headers that a filter writes for the claims of a token, in lower case. It overwrites what the client sent.
func (f HTTPFilter) ClaimHeaders() []string {
	var all []string
	m, _ := f.Config.(*jwtv3.JwtAuthentication)
	for _, p := range m.GetProviders() {
		if name := p.GetForwardPayloadHeader(); name != "" {
			all = append(all, strings.ToLower(name))
		}
		for _, claim := range p.GetClaimToHeaders() {
			all = append(all, strings.ToLower(claim.GetHeaderName()))
		}
	}
	return all
}
