package cluster

import (
	"fmt"
	"slices"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "hash-cookie-no-ttl",
	Severity: lint.Info,
	Summary:  "a hash policy uses a cookie without a ttl, which Envoy does not create",
	Links:    []string{"https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/route/v3/route_components.proto#config-route-v3-routeaction-hashpolicy-cookie"},
	Run: lint.Each(func(p *lint.Pass, at lint.At, action *routev3.RouteAction) {
		if slices.ContainsFunc(action.GetHashPolicy(), alwaysHashes) {
			return
		}
		for i, policy := range action.GetHashPolicy() {
			cookie := policy.GetCookie()
			if cookie == nil {
				continue
			}
			at := at.Item("hash_policy", i).Field("cookie")
			p.Report(at.Field("name"), lint.Diagnostic{
				Message: fmt.Sprintf("a client without the cookie %q goes to any host, each time", cookie.GetName()),
				Notes:   []string{"Envoy creates the cookie only if ttl is set; with 0s, it lasts until the browser is closed"},
				Help:    "write ttl, unless the servers set this cookie themselves",
				Fixes:   lint.Insert(at, "ttl", "0s").Likely("let Envoy create a cookie for the session"),
			})
		}
	}),
})

// alwaysHashes reports whether a policy yields a hash for every client, or may do so.
func alwaysHashes(policy *routev3.RouteAction_HashPolicy) bool {
	cookie := policy.GetCookie()
	return cookie == nil || cookie.GetTtl() != nil
}
