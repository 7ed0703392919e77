package http

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "ratelimit-stage",
	Severity: lint.Warning,
	Summary:  "a rate limit has a stage that no rate limit filter has",
	Links: []string{
		"Filter::populateRateLimitDescriptors (source/extensions/filters/http/ratelimit/ratelimit.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/route/v3/route_components.proto#config-route-v3-ratelimit",
	},
	Run: eachLimited(func(p *lint.Pass, l limited) {
		stages := map[string]bool{}
		for _, f := range l.filters {
			if stage, ok := f.Stage(l.level); ok {
				stages[fmt.Sprint(stage)] = true
			}
		}
		if len(stages) == 0 {
			return
		}
		for _, limit := range l.limits {
			stage := fmt.Sprint(limit.Message.GetStage().GetValue())
			if stages[stage] {
				continue
			}
			at := limit.At
			if limit.Message.GetStage() != nil {
				at = at.Field("stage")
			}
			known := strings.Join(slices.Sorted(maps.Keys(stages)), ", ")
			p.Report(at, lint.Diagnostic{
				Message: fmt.Sprintf("no rate limit filter has stage %s, so this limit never applies", stage),
				Notes:   []string{"a filter applies the rate limits of its own stage, and both are 0 by default; filters here have stage " + known},
				Help:    fmt.Sprintf("write the same stage here and in the filter, which has %s", known),
			})
		}
	}),
})
