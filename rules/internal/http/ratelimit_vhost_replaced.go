package http

import (
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "ratelimit-vhost-replaced",
	Severity: lint.Info,
	Summary:  "the rate limits of a route are instead of those of its virtual host",
	Links: []string{
		"Filter::populateRateLimitDescriptors (source/extensions/filters/http/ratelimit/ratelimit.cc)",
		"https://github.com/envoyproxy/envoy/issues/12714",
	},
	Run: eachLimited(func(p *lint.Pass, l limited) {
		if l.level.Route == nil {
			return
		}
		for _, f := range l.filters {
			if f.ReplacesHost(l.level) {
				p.Report(l.limits[0].At, lint.Diagnostic{
					Message: "requests of this route are not subject to the rate limits of the virtual host",
					Notes:   []string{"by default, the rate limits of a route replace those of its virtual host"},
					Help:    "to have both, set vh_rate_limits: INCLUDE in the filter's configuration for the route; IGNORE says that this is meant",
					Related: []lint.Related{lint.RelatedTo(l.level.Around.OwnRateLimits()[0].At, "these do not apply")},
				})
				return
			}
		}
	}),
})
