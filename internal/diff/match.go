package diff

import (
	"fmt"
	"slices"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/internal/redact"
)

// matches says which requests a route takes: GET /cart* with x-canary = "yes". A star at the end is a prefix.
func matches(m *routev3.RouteMatch) string {
	text, conditions := pathOf(m), []string{}
	for _, h := range m.GetHeaders() {
		if method := h.GetStringMatch().GetExact(); h.GetName() == ":method" && method != "" && !h.GetInvertMatch() {
			text = method + " " + text
			continue
		}
		conditions = append(conditions, header(h))
	}
	for _, q := range m.GetQueryParameters() {
		conditions = append(conditions, query(q))
	}
	if m.GetGrpc() != nil {
		conditions = append(conditions, "gRPC")
	}
	if m.GetTlsContext() != nil {
		conditions = append(conditions, "a client certificate as told")
	}
	if n := len(m.GetDynamicMetadata()) + len(m.GetFilterState()); n > 0 {
		conditions = append(conditions, plural(n, "condition")+" on metadata")
	}
	if m.GetRuntimeFraction() != nil {
		conditions = append(conditions, "a share of requests")
	}
	if len(conditions) == 0 {
		return text
	}
	slices.Sort(conditions)
	return text + " with " + strings.Join(conditions, ", ")
}

func pathOf(m *routev3.RouteMatch) string {
	switch p := m.GetPathSpecifier().(type) {
	case *routev3.RouteMatch_Prefix:
		return p.Prefix + "*" + insensitive(m)
	case *routev3.RouteMatch_Path:
		return p.Path + insensitive(m)
	case *routev3.RouteMatch_PathSeparatedPrefix:
		return p.PathSeparatedPrefix + "[/*]" + insensitive(m)
	case *routev3.RouteMatch_SafeRegex:
		return "~" + p.SafeRegex.GetRegex()
	case *routev3.RouteMatch_ConnectMatcher_:
		return "CONNECT"
	case *routev3.RouteMatch_PathMatchPolicy:
		return "a path as " + short(p.PathMatchPolicy.GetName()) + " tells"
	}
	return "any path"
}

func insensitive(m *routev3.RouteMatch) string {
	if c := m.GetCaseSensitive(); c != nil && !c.GetValue() {
		return " (any case)"
	}
	return ""
}

func header(h *routev3.HeaderMatcher) string {
	no := map[bool]string{true: "no "}[h.GetInvertMatch()]
	if s := h.GetStringMatch(); s != nil {
		return no + h.GetName() + stringMatch(h.GetName(), s)
	}
	if p, ok := h.GetHeaderMatchSpecifier().(*routev3.HeaderMatcher_PresentMatch); ok && !p.PresentMatch {
		no = map[bool]string{true: "", false: "no "}[h.GetInvertMatch()]
	} else if r := h.GetRangeMatch(); r != nil {
		return fmt.Sprintf("%s%s from %d to below %d", no, h.GetName(), r.GetStart(), r.GetEnd())
	} else if !ok && h.GetHeaderMatchSpecifier() != nil {
		return no + h.GetName() + " as told"
	}
	return no + h.GetName()
}

func query(q *routev3.QueryParameterMatcher) string {
	if s := q.GetStringMatch(); s != nil {
		return "?" + q.GetName() + stringMatch(q.GetName(), s)
	}
	return "?" + q.GetName()
}

func stringMatch(name string, m *matcherv3.StringMatcher) string {
	sign, value := " as told", ""
	switch p := m.GetMatchPattern().(type) {
	case *matcherv3.StringMatcher_Exact:
		sign, value = " = ", p.Exact
	case *matcherv3.StringMatcher_Prefix:
		sign, value = " beginning with ", p.Prefix
	case *matcherv3.StringMatcher_Suffix:
		sign, value = " ending with ", p.Suffix
	case *matcherv3.StringMatcher_Contains:
		sign, value = " containing ", p.Contains
	case *matcherv3.StringMatcher_SafeRegex:
		sign, value = " ~ ", p.SafeRegex.GetRegex()
	default:
		return sign
	}
	if redact.Credential(name) {
		return sign + Set
	}
	return sign + fmt.Sprintf("%q", value)
}

// withoutShare is a match without its share of the requests, which is a fact of its own.
func withoutShare(m *routev3.RouteMatch) *routev3.RouteMatch {
	if m.GetRuntimeFraction() == nil {
		return m
	}
	m = proto.CloneOf(m)
	m.RuntimeFraction = nil
	return m
}

// ordered is a route as one of many, of which the first that matches is taken.
type ordered struct {
	name  string
	match *routev3.RouteMatch
}

// disjoint tells whether no request can match both: their paths tell them apart.
func disjoint(a, b ordered) bool {
	one, exactOne, ok := plainPath(a.match)
	other, exactOther, okToo := plainPath(b.match)
	switch {
	case !ok || !okToo:
		return false
	case exactOne && exactOther:
		return one != other
	case exactOne:
		return !strings.HasPrefix(one, other)
	case exactOther:
		return !strings.HasPrefix(other, one)
	}
	return !strings.HasPrefix(one, other) && !strings.HasPrefix(other, one)
}

// plainPath is the path or prefix that a match compares letter by letter.
func plainPath(m *routev3.RouteMatch) (path string, exact, ok bool) {
	if insensitive(m) != "" {
		return "", false, false
	}
	switch p := m.GetPathSpecifier().(type) {
	case *routev3.RouteMatch_Prefix:
		return p.Prefix, false, true
	case *routev3.RouteMatch_PathSeparatedPrefix:
		return p.PathSeparatedPrefix, false, true
	case *routev3.RouteMatch_Path:
		return p.Path, true, true
	}
	return "", false, false
}

// overtaken finds two routes that both sides have, that a request can match both, and that changed their order. Old names first in
// the old order.
func overtaken(old, now []ordered) (first, second string, found bool) {
	at := map[string]int{}
	for i, r := range now {
		at[r.name] = i
	}
	var common []ordered
	for _, r := range old {
		if _, ok := at[r.name]; ok {
			common = append(common, r)
		}
	}
	for len(common) > 0 && inPlace(common, at) {
		common = common[1:]
	}
	for i, a := range common {
		for _, b := range common[i+1:] {
			if at[a.name] > at[b.name] && !disjoint(a, b) {
				return a.name, b.name, true
			}
		}
	}
	return "", "", false
}

// inPlace tells whether the first of the routes still comes before all the others.
func inPlace(routes []ordered, at map[string]int) bool {
	for _, r := range routes[1:] {
		if at[r.name] < at[routes[0].name] {
			return false
		}
	}
	return true
}
