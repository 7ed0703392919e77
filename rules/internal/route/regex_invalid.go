package route

import (
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/check"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "regex-invalid",
	Severity: lint.Error,
	Summary:  "a regular expression of a route table is not valid for RE2",
	Links:    []string{"CompiledGoogleReMatcher (source/common/common/regex.cc)", "https://github.com/google/re2/wiki/Syntax"},
	Run: lint.EachNamed(func(p *lint.Pass, at lint.At, m protoreflect.Message) {
		expression, ok := expressionOf(p, m)
		if !ok {
			return
		}
		upstream := envoy.InvalidRegex(p.Target, p.Snapshot, expression)
		if upstream == "" {
			return
		}
		if _, ok := tableOf(p, at); ok {
			check.RejectRegex(p, at, upstream)
		}
	}, "envoy.type.matcher.v3.RegexMatcher", "xds.type.matcher.v3.RegexMatcher"),
})

// expressionOf returns the regular expression that RE2 compiles for a message. An empty one violates a constraint.
func expressionOf(p *lint.Pass, m protoreflect.Message) (expression string, ok bool) {
	switch m.Descriptor().FullName() {
	case "envoy.type.matcher.v3.RegexMatcher":
		if typed, ok := m.Interface().(*matcherv3.RegexMatcher); ok && typed.GetRegex() != "" {
			return typed.GetRegex(), !envoy.OtherRegexEngine(p.Snapshot, typed)
		}
	case "xds.type.matcher.v3.RegexMatcher":
		expression = m.Get(m.Descriptor().Fields().ByName("regex")).String()
		return expression, expression != ""
	}
	return "", false
}
