package diff

import (
	"fmt"
	"slices"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/internal/redact"
	"github.com/xdslint/xdslint/internal/words"
)

// matches describes the requests that a route matches: GET /cart* with x-canary = "yes". A star at the end means a prefix.
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
		conditions = append(conditions, "another client-certificate condition")
	}
	if n := len(m.GetDynamicMetadata()) + len(m.GetFilterState()); n > 0 {
		conditions = append(conditions, words.Count(n, "condition")+" on metadata")
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
		return "a path matched by " + short(p.PathMatchPolicy.GetName())
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
		return no + h.GetName() + otherMatch
	}
	return no + h.GetName()
}

func query(q *routev3.QueryParameterMatcher) string {
	if s := q.GetStringMatch(); s != nil {
		return "?" + q.GetName() + stringMatch(q.GetName(), s)
	}
	return "?" + q.GetName()
}

// otherMatch is for a condition that is not shown.
const otherMatch = " (other match)"

func stringMatch(name string, m *matcherv3.StringMatcher) string {
	sign, value := otherMatch, ""
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

// withoutShare returns a match without its share of the requests, which is a separate fact.
func withoutShare(m *routev3.RouteMatch) *routev3.RouteMatch {
	if m.GetRuntimeFraction() == nil {
		return m
	}
	m = proto.CloneOf(m)
	m.RuntimeFraction = nil
	return m
}

// ordered is a route in a list of which the first match counts.
type ordered struct {
	name  string
	takes *match.Route
	by    string // the route before it that takes all its requests
}

// sequence is the routes of a virtual host with their positions.
type sequence struct {
	routes []ordered
	at     map[string]int
}

func newSequence(routes []ordered) sequence {
	s := sequence{routes, map[string]int{}}
	for i, r := range routes {
		s.at[r.name] = i
	}
	return s
}

// inShadow reports whether another route, or one before it, takes all requests for a route.
func (s sequence) inShadow(name, other string) bool {
	by := s.routes[s.at[name]].by
	return by != "" && s.at[by] <= s.at[other]
}

// overtaken finds two routes that both sides have, that one request can match, and whose order has changed. They are returned in the old order.
func overtaken(old, now sequence) (first, second string, found bool) {
	var common []ordered
	for _, r := range old.routes {
		if _, ok := now.at[r.name]; ok {
			common = append(common, r)
		}
	}
	takes := make([]*match.Route, len(common))
	for i, r := range common {
		takes[i] = r.takes
	}
	var one, other int
	for i, j := range match.Pairs(takes) {
		a, b := common[i].name, common[j].name
		earlier := !found || i < one || i == one && j < other
		if earlier && now.at[a] > now.at[b] && !told(old, now, a, b) && takes[i].Meets(takes[j]) != match.No {
			one, other, first, second, found = i, j, a, b, true
		}
	}
	return first, second, found
}

// told reports whether, on one of the sides, all requests for one of two routes match the other one or a route before both. The change is then
// reported for the shadowed route or for that one.
func told(old, now sequence, first, second string) bool {
	return old.inShadow(first, second) || old.inShadow(second, first) || now.inShadow(first, second) || now.inShadow(second, first)
}
