package route

import (
	"fmt"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/internal/ascii"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "duplicate-domain",
	Severity: lint.Error,
	Summary:  "a route table has the same domain twice",
	Links:    []string{"RouteMatcher::RouteMatcher (source/common/router/config_impl.cc)"},
	Run: lint.Each(func(p *lint.Pass, at lint.At, table *routev3.RouteConfiguration) {
		eachDomainTwice(p, at, table, func(domain string, where, first lint.At, vhost string) {
			if domain == "*" {
				return // two-wildcards
			}
			var fixes []lint.Fix
			if sameHost(where, first) {
				fixes = lint.Remove(where).Safe("remove the second one")
			}
			p.Reject(where, lint.Rejection{
				Message: fmt.Sprintf("duplicate domain %q in this route table", domain),
				Help:    "keep it in one virtual host",
				Upstream: fmt.Sprintf("Only unique values for domains are permitted. Duplicate entry of domain %s in route %s",
					domain, table.GetName()),
				Fixes:   fixes,
				Related: []lint.Related{lint.RelatedTo(first, fmt.Sprintf("virtual host %q has it", vhost))},
			})
		})
	}),
})

// eachDomainTwice calls f for every domain that equals an earlier domain of the same table, as RouteMatcher compares them.
// VHDS can add virtual hosts, but Envoy still rejects duplicates in the table itself.
func eachDomainTwice(p *lint.Pass, at lint.At, config *routev3.RouteConfiguration, f func(domain string, where, first lint.At, vhost string)) {
	type place struct{ vhost, domain int }
	where := func(in place) lint.At { return at.Item("virtual_hosts", in.vhost).Item("domains", in.domain) }
	var seen match.Domains[place]
	for i, vhost := range config.GetVirtualHosts() {
		for j, domain := range vhost.GetDomains() {
			first, twice := seen.Add(domain, place{i, j})
			if !twice {
				continue
			}
			if _, ok := tableOf(p, at); ok {
				f(ascii.Lower(domain), where(place{i, j}), where(first), config.GetVirtualHosts()[first.vhost].GetName())
			}
		}
	}
}

// sameHost reports whether two domains are in the same virtual host.
func sameHost(a, b lint.At) bool { return a.Path().Parent().String() == b.Path().Parent().String() }
