package http

import (
	"fmt"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/managers"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "route-config-without-filter",
	Severity: lint.Warning,
	Summary:  "a route or virtual host has rate_limits or cors, but no connection manager has the filter that reads them",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_filters/rate_limit_filter",
		"https://github.com/envoyproxy/envoy/issues/14523",
	},
	Run: lint.ForSnapshot(func(p *lint.Pass) {
		managers.EachLevel(p, func(l *envoy.RouteLevel, users []managers.Manager) {
			at, needed := readByFilter(l)
			if needed == nil || slices.ContainsFunc(users, func(m managers.Manager) bool { return mayHave(m.Filters, needed) }) {
				return
			}
			p.Report(at.Key(), lint.Diagnostic{
				Message: fmt.Sprintf("no connection manager of this table has the filter %s, which reads this", strings.Join(needed, " or ")),
				Notes:   []string{"Envoy accepts it and ignores it"},
				Help:    fmt.Sprintf("add %s before the router, or remove this", strings.Join(needed, " or ")),
			})
		})
	}),
})

// readByFilter returns a field of a virtual host or route that only certain filters read, with their kinds.
func readByFilter(l *envoy.RouteLevel) (at lint.At, kinds []string) {
	switch {
	case l.Cluster != nil || l.Host == nil:
	case l.Route == nil && len(l.Host.GetRateLimits()) > 0:
		return l.At.Field("rate_limits"), limiters
	case l.Route == nil && l.Host.GetCors() != nil: //nolint:staticcheck // deprecated, and in use
		return l.At.Field("cors"), []string{"cors"}
	case len(l.Route.GetRoute().GetRateLimits()) > 0:
		return l.At.Field("route", "rate_limits"), limiters
	case l.Route.GetRoute().GetCors() != nil: //nolint:staticcheck // deprecated, and in use
		return l.At.Field("route", "cors"), []string{"cors"}
	}
	return at, nil
}

// limiters are the filters that read rate_limits of routes.
var limiters = []string{"ratelimit", "local_ratelimit"}

// mayHave reports whether a chain has a filter of one of the kinds, or one that is not known.
func mayHave(chain []envoy.HTTPFilter, kinds []string) bool {
	return slices.ContainsFunc(chain, func(f envoy.HTTPFilter) bool {
		return f.Kind == "" || f.Kind == "composite" || f.Kind == "filter_chain" || f.Kind == "dynamic_modules" || f.Kind == "wasm" || slices.Contains(kinds, f.Kind)
	})
}
