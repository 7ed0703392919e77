package route

import (
	"fmt"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "two-wildcards",
	Severity: lint.Error,
	Summary:  `a route table has the domain "*" twice`,
	Links:    []string{"RouteMatcher::RouteMatcher (source/common/router/config_impl.cc)"},
	Run: lint.Each(func(p *lint.Pass, at lint.At, table *routev3.RouteConfiguration) {
		eachDomainTwice(p, at, table, func(domain string, where, first lint.At, vhost string) {
			if domain != "*" {
				return // duplicate-domain
			}
			p.Reject(where, lint.Rejection{
				Message:  `duplicate domain "*" in this route table`,
				Help:     "move the routes of both to one virtual host, or list the domains of the other",
				Upstream: "Only a single wildcard domain is permitted in route " + table.GetName(),
				Related:  []lint.Related{lint.RelatedTo(first, fmt.Sprintf("virtual host %q has it", vhost))},
			})
		})
	}),
})
