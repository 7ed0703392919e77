package route

import (
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "regex-ignore-case",
	Severity: lint.Error,
	Summary:  "a string matcher of a route table has both ignore_case and a regular expression",
	Links:    []string{"StringMatcherImpl::createVariant (source/common/common/matchers.h)"},
	Run: lint.EachNamed(func(p *lint.Pass, at lint.At, m protoreflect.Message) {
		fields := m.Descriptor().Fields()
		if !m.Has(fields.ByName("safe_regex")) || !m.Get(fields.ByName("ignore_case")).Bool() {
			return
		}
		if _, ok := tableOf(p, at); ok {
			p.Reject(at.Field("ignore_case").Key(), lint.Rejection{
				Message:  "ignore_case cannot be combined with safe_regex",
				Help:     "remove it, and begin the expression with (?i)",
				Upstream: "ignore_case has no effect for safe_regex",
				Fixes:    lint.Remove(at.Field("ignore_case")).Likely("remove ignore_case"),
				Related:  []lint.Related{lint.RelatedTo(at.Field("safe_regex").Key(), "the regular expression")},
			})
		}
	}, "envoy.type.matcher.v3.StringMatcher", "xds.type.matcher.v3.StringMatcher"),
})
