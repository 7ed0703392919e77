package match_test

import (
	"regexp"
	"strconv"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	uritemplatev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/path/match/uri_template/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
)

// request is one that a route table is asked about. TestEnvoy holds what is said here about requests to the real Envoy.
type request struct {
	method, host string
	path         string // with its query; a CONNECT request of HTTP/1 has none
	headers      map[string]string
	parameters   bool // of the path count
	presented    bool
	random       uint64 // below a million
}

func (r request) header(name string) (string, bool) {
	switch name = strings.ToLower(name); name {
	case ":method":
		return r.method, true
	case ":path":
		return r.path, r.path != ""
	}
	v, ok := r.headers[name]
	return v, ok
}

// first finds the route that takes a request, -1 if none does.
func first(routes []*routev3.Route, r request) int {
	for i, route := range routes {
		if takes(route.GetMatch(), r) {
			return i
		}
	}
	return -1
}

func takes(m *routev3.RouteMatch, r request) bool {
	if !takesPath(m, r) || m.GetGrpc() != nil && !isGRPC(r) {
		return false
	}
	for _, h := range m.GetHeaders() {
		if !takesHeader(h, r) {
			return false
		}
	}
	for _, q := range m.GetQueryParameters() {
		if !takesQuery(q, r) {
			return false
		}
	}
	for _, c := range m.GetCookies() {
		if !takesCookie(c, r) {
			return false
		}
	}
	if t := m.GetTlsContext(); t.GetPresented() != nil && t.GetPresented().GetValue() != r.presented {
		return false
	}
	if f := m.GetRuntimeFraction().GetDefaultValue(); f != nil {
		of := map[int32]uint64{0: 100, 1: 10_000, 2: 1_000_000}[int32(f.GetDenominator())]
		return r.random%of < uint64(f.GetNumerator())
	}
	return true
}

func takesPath(m *routev3.RouteMatch, r request) bool {
	if _, ok := m.GetPathSpecifier().(*routev3.RouteMatch_ConnectMatcher_); ok {
		return r.method == "CONNECT"
	}
	if r.path == "" {
		return false
	}
	path, _, _ := strings.Cut(r.path, "?")
	if p := m.GetPathMatchPolicy(); p != nil {
		config := &uritemplatev3.UriTemplateMatchConfig{}
		must(p.GetTypedConfig().UnmarshalTo(config))
		return fullMatch(strings.NewReplacer("{x}", "[a-z;]+", "*", "[a-z;]+").Replace(config.GetPathTemplate()), path)
	}
	if !r.parameters {
		path = parameters.ReplaceAllString(path, "") // before 1.39 all that comes after the first semicolon
	}
	fold := m.GetCaseSensitive() != nil && !m.GetCaseSensitive().GetValue()
	lower := func(s string) string {
		if fold {
			return strings.ToLower(s)
		}
		return s
	}
	switch p := m.GetPathSpecifier().(type) {
	case *routev3.RouteMatch_Prefix:
		return strings.HasPrefix(lower(path), lower(p.Prefix))
	case *routev3.RouteMatch_Path:
		return lower(path) == lower(p.Path)
	case *routev3.RouteMatch_PathSeparatedPrefix:
		return lower(path) == lower(p.PathSeparatedPrefix) || strings.HasPrefix(lower(path), lower(p.PathSeparatedPrefix)+"/")
	case *routev3.RouteMatch_SafeRegex:
		return fullMatch(p.SafeRegex.GetRegex(), path)
	}
	panic("no path")
}

var parameters = regexp.MustCompile(";[^/]*")

var compiled = map[string]*regexp.Regexp{}

func fullMatch(pattern, s string) bool {
	if compiled[pattern] == nil {
		compiled[pattern] = regexp.MustCompile(`^(?:` + pattern + `)$`)
	}
	return compiled[pattern].MatchString(s)
}

func isGRPC(r request) bool {
	kind := r.headers["content-type"]
	return r.path != "" && (kind == "application/grpc" || strings.HasPrefix(kind, "application/grpc+"))
}

func takesHeader(h *routev3.HeaderMatcher, r request) bool {
	value, there := r.header(h.GetName())
	if h.GetTreatMissingHeaderAsEmpty() {
		there = true
	}
	switch m := h.GetHeaderMatchSpecifier().(type) {
	case nil:
		return there != h.GetInvertMatch()
	case *routev3.HeaderMatcher_PresentMatch:
		return (there == m.PresentMatch) != h.GetInvertMatch()
	case *routev3.HeaderMatcher_StringMatch:
		return there && takesString(m.StringMatch, value) != h.GetInvertMatch()
	case *routev3.HeaderMatcher_RangeMatch:
		n, err := strconv.Atoi(value)
		return there && (err == nil && int64(n) >= m.RangeMatch.GetStart() && int64(n) < m.RangeMatch.GetEnd()) != h.GetInvertMatch()
	}
	panic("another header matcher")
}

func takesString(m *matcherv3.StringMatcher, s string) bool {
	lower := func(s string) string {
		if m.GetIgnoreCase() {
			return strings.ToLower(s)
		}
		return s
	}
	switch p := m.GetMatchPattern().(type) {
	case *matcherv3.StringMatcher_Exact:
		return lower(s) == lower(p.Exact)
	case *matcherv3.StringMatcher_Prefix:
		return strings.HasPrefix(lower(s), lower(p.Prefix))
	case *matcherv3.StringMatcher_Suffix:
		return strings.HasSuffix(lower(s), lower(p.Suffix))
	case *matcherv3.StringMatcher_Contains:
		return strings.Contains(lower(s), lower(p.Contains))
	case *matcherv3.StringMatcher_SafeRegex:
		return fullMatch(p.SafeRegex.GetRegex(), s)
	}
	panic("another string matcher")
}

func takesQuery(q *routev3.QueryParameterMatcher, r request) bool {
	_, query, _ := strings.Cut(r.path, "?")
	value, there := "", false
	for _, one := range strings.Split(query, "&") {
		if name, v, _ := strings.Cut(one, "="); name == q.GetName() && one != "" {
			value, there = v, true
			break
		}
	}
	switch m := q.GetQueryParameterMatchSpecifier().(type) {
	case nil:
		return there
	case *routev3.QueryParameterMatcher_PresentMatch:
		return there == m.PresentMatch
	case *routev3.QueryParameterMatcher_StringMatch:
		return there && takesString(m.StringMatch, value)
	}
	panic("another query matcher")
}

func takesCookie(c *routev3.CookieMatcher, r request) bool {
	matched := false
	for _, one := range strings.Split(r.headers["cookie"], "; ") {
		if name, value, ok := strings.Cut(one, "="); ok && name == c.GetName() {
			matched = takesString(c.GetStringMatch(), value)
			break
		}
	}
	return matched != c.GetInvertMatch()
}
