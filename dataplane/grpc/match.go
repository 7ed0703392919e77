package grpc

import (
	"regexp"
	"strconv"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
)

// MatchesPath reports whether a route fits a path (pathMatcher.match).
func MatchesPath(m *routev3.RouteMatch, path string) bool {
	fold := func(text string) string {
		if m.GetCaseSensitive() != nil && !m.GetCaseSensitive().GetValue() {
			return strings.ToUpper(text)
		}
		return text
	}
	switch p := m.GetPathSpecifier().(type) {
	case *routev3.RouteMatch_Prefix:
		return strings.HasPrefix(fold(path), fold(p.Prefix))
	case *routev3.RouteMatch_Path:
		return fold(path) == fold(p.Path)
	case *routev3.RouteMatch_SafeRegex: // always with case
		return matchesWhole(p.SafeRegex.GetRegex(), path)
	}
	return false
}

// matchesWhole reports whether a regular expression matches a whole text (CompileSafeRegex).
func matchesWhole(pattern, text string) bool {
	re, err := regexp.Compile("^(?:" + pattern + ")$")
	return err == nil && re.MatchString(text)
}

// MatchesHeader reports whether a header fits. One that is not there fits only present_match, even if the matcher is inverted.
func MatchesHeader(h *routev3.HeaderMatcher, metadata map[string][]string) bool {
	values, present := metadata[strings.ToLower(h.GetName())]
	if m, ok := h.GetHeaderMatchSpecifier().(*routev3.HeaderMatcher_PresentMatch); ok {
		return (present && strings.Join(values, ",") != "") == (m.PresentMatch != h.GetInvertMatch())
	}
	return present && matchesValue(h, strings.Join(values, ",")) != h.GetInvertMatch()
}

func matchesValue(h *routev3.HeaderMatcher, value string) bool {
	switch m := h.GetHeaderMatchSpecifier().(type) {
	case *routev3.HeaderMatcher_ExactMatch: //nolint:staticcheck // deprecated, and in use
		return value == m.ExactMatch
	case *routev3.HeaderMatcher_PrefixMatch: //nolint:staticcheck // deprecated, and in use
		return strings.HasPrefix(value, m.PrefixMatch)
	case *routev3.HeaderMatcher_SuffixMatch: //nolint:staticcheck // deprecated, and in use
		return strings.HasSuffix(value, m.SuffixMatch)
	case *routev3.HeaderMatcher_ContainsMatch: //nolint:staticcheck // deprecated, and in use
		return strings.Contains(value, m.ContainsMatch)
	case *routev3.HeaderMatcher_SafeRegexMatch: //nolint:staticcheck // deprecated, and in use
		return matchesWhole(m.SafeRegexMatch.GetRegex(), value)
	case *routev3.HeaderMatcher_RangeMatch:
		n, err := strconv.ParseInt(value, 10, 64)
		return err == nil && n >= m.RangeMatch.GetStart() && n < m.RangeMatch.GetEnd()
	case *routev3.HeaderMatcher_StringMatch:
		return MatchesText(m.StringMatch, value)
	}
	return false
}

// MatchesText reports whether a text fits (StringMatcher.Match).
func MatchesText(m *matcherv3.StringMatcher, value string) bool {
	fold := func(text string) string {
		if m.GetIgnoreCase() {
			return strings.ToLower(text)
		}
		return text
	}
	switch p := m.GetMatchPattern().(type) {
	case *matcherv3.StringMatcher_Exact:
		return fold(value) == fold(p.Exact)
	case *matcherv3.StringMatcher_Prefix:
		return strings.HasPrefix(fold(value), fold(p.Prefix))
	case *matcherv3.StringMatcher_Suffix:
		return strings.HasSuffix(fold(value), fold(p.Suffix))
	case *matcherv3.StringMatcher_Contains:
		return strings.Contains(fold(value), fold(p.Contains))
	case *matcherv3.StringMatcher_SafeRegex: // always with case
		return matchesWhole(p.SafeRegex.GetRegex(), value)
	}
	return false
}
