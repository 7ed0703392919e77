package grpc

import (
	"fmt"
	"regexp"

	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"

	"github.com/xdslint/xdslint/graph"
)

// pattern checks a regular expression (matcher.CompileSafeRegex). That of Java is another dialect, and is not checked.
func (c Client) pattern(at graph.At, text string) []Fault {
	if _, err := regexp.Compile(text); err == nil || c.is(Java) {
		return nil
	}
	return rejected(at, fmt.Sprintf("%q is not a regular expression of RE2", text), "invalid regex", "write it in the syntax of RE2, which has no look-ahead and no back references")
}

// text checks a StringMatcher (StringMatcherFromProto).
func (c Client) text(at graph.At, m *matcherv3.StringMatcher) []Fault {
	empty := func(kind, value string) []Fault {
		if value != "" {
			return nil
		}
		return rejected(at, fmt.Sprintf("the %s of a string matcher is empty", kind), fmt.Sprintf("empty %s is not allowed in StringMatcher", kind), "remove the matcher, or give it a text")
	}
	switch p := m.GetMatchPattern().(type) {
	case *matcherv3.StringMatcher_Exact:
		return nil
	case *matcherv3.StringMatcher_Prefix:
		return empty("prefix", p.Prefix)
	case *matcherv3.StringMatcher_Suffix:
		return empty("suffix", p.Suffix)
	case *matcherv3.StringMatcher_Contains:
		return empty("contains", p.Contains)
	case *matcherv3.StringMatcher_SafeRegex:
		return c.pattern(at.Field("safe_regex", "regex"), p.SafeRegex.GetRegex())
	}
	return rejected(at, "a string matcher has no pattern that gRPC knows", "unrecognized string matcher", "write one of exact, prefix, suffix, contains and safe_regex")
}
