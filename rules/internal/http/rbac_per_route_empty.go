package http

import (
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "rbac-per-route-empty",
	Severity: lint.Info,
	Summary:  "an empty RBACPerRoute turns off the RBAC filter for its route",
	Links:    []string{"https://www.envoyproxy.io/docs/envoy/latest/api-v3/extensions/filters/http/rbac/v3/rbac.proto#extensions-filters-http-rbac-v3-rbacperroute"},
	Run: eachConfig(func(p *lint.Pass, at lint.At, m *rbacv3.RBACPerRoute) {
		if m.GetRbac() != nil {
			return
		}
		p.Report(at, lint.Diagnostic{
			Message: "this RBACPerRoute does not have rbac, so every request to the route is allowed",
			Notes:   []string{"it does not inherit the rules of the filter: it replaces them by none"},
			Help:    `to keep the rules, remove the entry; to turn the filter off visibly, write {"@type": type.googleapis.com/envoy.config.route.v3.FilterConfig, disabled: true}`,
		})
	}),
})
