package http

import (
	"fmt"
	"strings"

	localratelimitv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/local_ratelimit/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "local-ratelimit-not-enforced",
	Severity: lint.Warning,
	Summary:  "a local rate limit is not enabled or not enforced, and limits nothing",
	Links: []string{
		"FilterConfig::FilterConfig (source/extensions/filters/http/local_ratelimit/local_ratelimit.cc)",
		"https://github.com/envoyproxy/envoy/issues/15851",
	},
	Run: eachConfig(func(p *lint.Pass, at lint.At, m *localratelimitv3.LocalRateLimit) {
		if m.GetTokenBucket() == nil && len(m.GetDescriptors()) == 0 {
			return // routes bring their own limits
		}
		var missing []string
		var edits []lint.Edits
		if m.GetFilterEnabled() == nil {
			missing, edits = append(missing, "filter_enabled"), append(edits, lint.Insert(at, "filter_enabled", always))
		}
		if m.GetFilterEnforced() == nil && len(m.GetRequestHeadersToAddWhenNotEnforced()) == 0 {
			missing, edits = append(missing, "filter_enforced"), append(edits, lint.Insert(at, "filter_enforced", always))
		}
		if len(missing) == 0 {
			return
		}
		fields := strings.Join(missing, " and ")
		p.Report(at, lint.Diagnostic{
			Message: fmt.Sprintf("the local rate limit does not have %s, so it limits nothing", fields),
			Notes:   []string{"without filter_enabled Envoy counts no request, without filter_enforced it lets all through: both default to 0 %"},
			Help:    fmt.Sprintf("add %s; to only count requests, write a default_value of 0", fields),
			Fixes:   lint.Together(edits...).Likely(fmt.Sprintf("add %s with 100 %%", fields)),
		})
	}),
})
