package route

import (
	"fmt"
	"net/url"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "host-rewrite-is-url",
	Severity: lint.Warning,
	Summary:  "host_rewrite_literal is a URL",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/route/v3/route_components.proto#envoy-v3-api-field-config-route-v3-routeaction-host-rewrite-literal",
	},
	Run: lint.Each(func(p *lint.Pass, at lint.At, m *routev3.RouteAction) {
		text := m.GetHostRewriteLiteral()
		if !strings.Contains(text, "/") {
			return
		}
		if _, ok := tableOf(p, at); !ok {
			return
		}
		d := lint.Diagnostic{
			Message: fmt.Sprintf("the upstream gets the header Host: %s", text),
			Notes:   []string{"Envoy sends host_rewrite_literal as it is; servers answer 400 to a Host that is not a name or an address"},
			Help:    "write only the name, and the port if the server expects one",
		}
		if u, err := url.Parse(text); err == nil && u.Host != "" {
			d.Fixes = lint.Replace(at.Field("host_rewrite_literal"), u.Host).Likely(fmt.Sprintf("write %q", u.Host))
		}
		p.Report(at.Field("host_rewrite_literal"), d)
	}),
})
