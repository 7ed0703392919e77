package route

import (
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "vhost-exclusive",
	Severity: lint.Error,
	Summary:  "a virtual host has both routes and a matcher, or a virtual cluster that matches nothing",
	Links:    []string{"CommonVirtualHostImpl::CommonVirtualHostImpl (source/common/router/config_impl.cc)"},
	Run: lint.Each(func(p *lint.Pass, at lint.At, m *routev3.VirtualHost) {
		if _, ok := tableOf(p, at); !ok {
			return
		}
		if m.GetMatcher() != nil && len(m.GetRoutes()) > 0 {
			p.Reject(at.Field("matcher").Key(), lint.Rejection{
				Message:  "a virtual host has either routes or a matcher",
				Help:     "move the routes to the matcher, as actions of type envoy.config.route.v3.Route",
				Upstream: "cannot set both matcher and routes on virtual host",
				Related:  []lint.Related{lint.RelatedTo(at.Field("routes").Key(), "the routes")},
			})
		}
		for i, c := range m.GetVirtualClusters() {
			if len(c.GetHeaders()) == 0 {
				p.Reject(at.Item("virtual_clusters", i), lint.Rejection{
					Message:  "the virtual cluster does not have headers to match",
					Help:     `write headers, such as {name: ":path", string_match: {prefix: /checkout}}`,
					Upstream: "virtual clusters must define 'headers'",
				})
			}
		}
	}),
})
