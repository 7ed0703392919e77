package http

import (
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/managers"
)

// limited is a part of a route table that has rate limits, with the filters that may apply them.
type limited struct {
	level   *envoy.RouteLevel
	limits  []envoy.RateLimit
	filters []envoy.HTTPFilter // of all managers that use the table
}

// eachLimited calls f for each virtual host and route that has rate limits. It leaves out those whose filters are not all known.
func eachLimited(f func(p *lint.Pass, l limited)) lint.Check {
	return lint.ForSnapshot(func(p *lint.Pass) {
		managers.EachLevel(p, func(level *envoy.RouteLevel, users []managers.Manager) {
			limits := level.OwnRateLimits()
			if len(limits) == 0 {
				return
			}
			var filters []envoy.HTTPFilter
			for _, m := range users {
				filters = append(filters, m.Filters...)
			}
			for _, filter := range filters {
				if filter.Kind == "" {
					return
				}
			}
			f(p, limited{level, limits, filters})
		})
	})
}
