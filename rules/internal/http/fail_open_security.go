package http

import (
	extauthzv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_authz/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "fail-open-security",
	Severity: lint.Info,
	Profiles: map[lint.Profile]lint.Severity{lint.Edge: lint.Warning},
	Summary:  "requests pass without authorization while the authorization service fails",
	Links:    []string{"https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_filters/ext_authz_filter"},
	Run: eachConfig(func(p *lint.Pass, at lint.At, m *extauthzv3.ExtAuthz) {
		if !m.GetFailureModeAllow() {
			return
		}
		p.Report(at.Field("failure_mode_allow"), lint.Diagnostic{
			Message: "every request passes while the authorization service fails, or is too slow",
			Notes:   []string{"a client that can overload the service, or make it fail, is not authorized any more"},
			Help:    "remove failure_mode_allow, unless another filter or the upstream authorizes requests too",
			Fixes:   lint.Remove(at.Field("failure_mode_allow")).Likely("reject requests while the service fails"),
		})
	}),
})
