package check

import (
	"strings"

	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

// Regex reports a regular expression that RE2 rejects, and ignore_case next to it. An empty one violates a constraint.
func Regex(p *lint.Pass, at lint.At, m *matcherv3.RegexMatcher) {
	if m.GetRegex() == "" || envoy.OtherRegexEngine(p.Snapshot, m) {
		return
	}
	if text, ok := at.Place.Parent.Message.Interface().(*matcherv3.StringMatcher); ok && text.GetIgnoreCase() {
		p.Reject(at.Place.Parent.At().Field("ignore_case"), lint.Rejection{
			Message:  "ignore_case cannot be combined with safe_regex",
			Help:     "remove it, and begin the expression with (?i)",
			Upstream: "ignore_case has no effect for safe_regex.",
		})
	}
	if upstream := envoy.InvalidRegex(p.Target, p.Snapshot, m.GetRegex()); upstream != "" {
		RejectRegex(p, at, upstream)
	}
}

// RejectRegex reports that RE2 rejects the expression of a matcher.
func RejectRegex(p *lint.Pass, at lint.At, upstream string) {
	help := "see https://github.com/google/re2/wiki/Syntax"
	if strings.Contains(upstream, "(?=") || strings.Contains(upstream, "(?!") || strings.Contains(upstream, "(?<") {
		help = "RE2 does not support look-around: match only what is wanted; on a route, an earlier route can take the rest"
	}
	p.Reject(at.Field("regex"), lint.Rejection{
		Message:  "RE2 rejects this regular expression: " + upstream,
		Help:     help,
		Upstream: upstream,
	})
}
