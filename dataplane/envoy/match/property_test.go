package match_test

import (
	"slices"
	"strings"
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"
	"pgregory.net/rapid"

	"github.com/xdslint/xdslint/dataplane/envoy/match"
)

// Few texts, so that what is drawn has something to do with each other.
var (
	texts    = []string{"", "a", "A", "b", "ab", "aB", "ba", "aba", "5", "15"}
	paths    = []string{"/", "/a", "/A", "/ab", "/aB", "/a/", "/a/b", "/A/b", "/b", "/a/ab", "/5"}
	patterns = []string{"a", "a.*", ".*", ".*a", "a|b", "(?i)a.*", "[ab]+", "ab?", "(a)(.*)", "^a$", "", "a.+"}
	names    = []string{"x", "X", "y", "content-type"}
)

func drawString(t *rapid.T) *matcherv3.StringMatcher {
	m := &matcherv3.StringMatcher{IgnoreCase: rapid.Bool().Draw(t, "ignore case")}
	s := rapid.SampledFrom(texts).Draw(t, "text")
	switch rapid.IntRange(0, 4).Draw(t, "kind of string") {
	case 0:
		m.MatchPattern = &matcherv3.StringMatcher_Exact{Exact: s}
	case 1:
		m.MatchPattern = &matcherv3.StringMatcher_Prefix{Prefix: s}
	case 2:
		m.MatchPattern = &matcherv3.StringMatcher_Suffix{Suffix: s}
	case 3:
		m.MatchPattern = &matcherv3.StringMatcher_Contains{Contains: s}
	case 4:
		m.IgnoreCase = false // Envoy rejects it
		m.MatchPattern = &matcherv3.StringMatcher_SafeRegex{SafeRegex: drawRegex(t, "")}
	}
	return m
}

func drawRegex(t *rapid.T, before string) *matcherv3.RegexMatcher {
	return &matcherv3.RegexMatcher{Regex: before + rapid.SampledFrom(patterns).Draw(t, "pattern")}
}

func drawHeader(t *rapid.T) *routev3.HeaderMatcher {
	h := &routev3.HeaderMatcher{
		Name: rapid.SampledFrom(names).Draw(t, "name"), InvertMatch: rapid.Bool().Draw(t, "invert"),
		TreatMissingHeaderAsEmpty: rapid.Bool().Draw(t, "missing as empty"),
	}
	switch rapid.IntRange(0, 5).Draw(t, "kind of header") {
	case 0:
	case 1:
		h.HeaderMatchSpecifier = &routev3.HeaderMatcher_PresentMatch{PresentMatch: rapid.Bool().Draw(t, "present")}
	case 2:
		start := rapid.Int64Range(0, 10).Draw(t, "start")
		h.HeaderMatchSpecifier = &routev3.HeaderMatcher_RangeMatch{RangeMatch: &typev3.Int64Range{Start: start, End: start + 10}}
	default:
		h.HeaderMatchSpecifier = &routev3.HeaderMatcher_StringMatch{StringMatch: drawString(t)}
	}
	return h
}

func drawQuery(t *rapid.T) *routev3.QueryParameterMatcher {
	q := &routev3.QueryParameterMatcher{Name: rapid.SampledFrom([]string{"q", "Q"}).Draw(t, "name")}
	switch rapid.IntRange(0, 2).Draw(t, "kind of query") {
	case 1:
		q.QueryParameterMatchSpecifier = &routev3.QueryParameterMatcher_PresentMatch{PresentMatch: rapid.Bool().Draw(t, "present")}
	case 2:
		q.QueryParameterMatchSpecifier = &routev3.QueryParameterMatcher_StringMatch{StringMatch: drawString(t)}
	}
	return q
}

func drawMatch(t *rapid.T) *routev3.RouteMatch {
	m := &routev3.RouteMatch{}
	path := rapid.SampledFrom(append(slices.Clone(paths), "/a?q", "a", "")).Draw(t, "path")
	switch rapid.IntRange(0, 5).Draw(t, "kind of path") {
	case 0:
		m.PathSpecifier = &routev3.RouteMatch_Path{Path: path}
	case 1:
		m.PathSpecifier = &routev3.RouteMatch_PathSeparatedPrefix{PathSeparatedPrefix: "/a" + strings.TrimRight(path, "/?q")}
	case 2:
		m.PathSpecifier = &routev3.RouteMatch_SafeRegex{SafeRegex: drawRegex(t, rapid.SampledFrom([]string{"/", ""}).Draw(t, "slash"))}
	case 3:
		m.PathSpecifier = &routev3.RouteMatch_ConnectMatcher_{ConnectMatcher: &routev3.RouteMatch_ConnectMatcher{}}
	default:
		m.PathSpecifier = &routev3.RouteMatch_Prefix{Prefix: path}
	}
	if rapid.Bool().Draw(t, "any case") {
		m.CaseSensitive = wrapperspb.Bool(false)
	}
	for range rapid.IntRange(-1, 2).Draw(t, "headers") {
		m.Headers = append(m.Headers, drawHeader(t))
	}
	switch rapid.IntRange(0, 9).Draw(t, "more") {
	case 0:
		m.QueryParameters = append(m.QueryParameters, drawQuery(t), drawQuery(t))
	case 1:
		m.QueryParameters = append(m.QueryParameters, drawQuery(t))
	case 2:
		m.Headers = append(m.Headers, &routev3.HeaderMatcher{Name: "content-type", HeaderMatchSpecifier: &routev3.HeaderMatcher_StringMatch{
			StringMatch: &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_Prefix{Prefix: "application/grpc"}},
		}})
	case 7, 8:
		m.Grpc = &routev3.RouteMatch_GrpcRouteMatchOptions{}
	case 3:
		m.TlsContext = &routev3.RouteMatch_TlsContextMatchOptions{Presented: wrapperspb.Bool(rapid.Bool().Draw(t, "presented"))}
	case 4:
		m.Cookies = append(m.Cookies, &routev3.CookieMatcher{Name: "c", StringMatch: drawString(t), InvertMatch: rapid.Bool().Draw(t, "invert")})
	case 5:
		m.Headers = append(m.Headers, &routev3.HeaderMatcher{Name: ":method", HeaderMatchSpecifier: &routev3.HeaderMatcher_StringMatch{
			StringMatch: &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_Exact{Exact: rapid.SampledFrom([]string{"GET", "CONNECT"}).Draw(t, "method")}},
		}})
	case 6:
		m.RuntimeFraction = drawShare(t)
	}
	return m
}

// drawRequests draws requests from a small set of texts, so that many of them match.
func drawRequests(t *rapid.T) []request {
	all := make([]request, 0, 60)
	for range cap(all) {
		r := request{method: "GET", host: "example.com", headers: map[string]string{}, presented: rapid.Bool().Draw(t, "presented"), random: rapid.Uint64Range(0, 999_999).Draw(t, "random")}
		r.path = rapid.SampledFrom(paths).Draw(t, "path")
		switch rapid.IntRange(0, 9).Draw(t, "rare") {
		case 0:
			r.method, r.path = "CONNECT", ""
		case 1:
			r.path += "?q=" + rapid.SampledFrom(texts).Draw(t, "value") + "&Q=" + rapid.SampledFrom(texts).Draw(t, "value")
		case 2:
			r.headers["cookie"] = "c=" + rapid.SampledFrom(texts).Draw(t, "value")
		}
		for _, name := range names {
			if rapid.Bool().Draw(t, "has "+name) {
				r.headers[strings.ToLower(name)] = rapid.SampledFrom(texts).Draw(t, "value")
			}
		}
		if rapid.IntRange(0, 3).Draw(t, "grpc") == 0 {
			r.headers["content-type"] = rapid.SampledFrom([]string{"application/grpc", "application/grpc+a"}).Draw(t, "kind of grpc")
		}
		all = append(all, r)
	}
	return all
}

func drawShare(t *rapid.T) *corev3.RuntimeFractionalPercent {
	return &corev3.RuntimeFractionalPercent{
		RuntimeKey: rapid.SampledFrom([]string{"one", "two"}).Draw(t, "key"),
		DefaultValue: &typev3.FractionalPercent{
			Numerator:   rapid.SampledFrom([]uint32{0, 50, 100}).Draw(t, "share"),
			Denominator: typev3.FractionalPercent_DenominatorType(rapid.Int32Range(0, 1).Draw(t, "of")),
		},
	}
}

func normal(m *routev3.RouteMatch) *match.Route { return match.NewRoute(&routev3.Route{Match: m}, nil) }

// checkUntil checks a property until it was really tried, because what is drawn may never fit together.
func checkUntil(t *testing.T, tried func() bool, property func(*rapid.T)) {
	t.Helper()
	for range 20 {
		rapid.Check(t, property)
		if t.Failed() || tried() {
			return
		}
	}
	t.Error("nothing was tried")
}

// TestSound: a shadowed route never takes a request, no request fits two routes that do not meet, and And loses no request.
func TestSound(t *testing.T) {
	covered, apart := 0, 0
	tried := func() bool { return covered > 0 && apart > 0 }
	checkUntil(t, tried, func(t *rapid.T) {
		routes := make([]*routev3.RouteMatch, rapid.IntRange(2, 5).Draw(t, "routes"))
		for i := range routes {
			routes[i] = drawMatch(t)
			if i > 0 && rapid.Bool().Draw(t, "narrower") { // two routes that are drawn hardly ever cover each other
				routes[i] = proto.CloneOf(routes[i-1])
				routes[i].Headers = append(routes[i].Headers, drawHeader(t))
			}
		}
		requests := drawRequests(t)
		for i, a := range routes {
			for j, b := range routes {
				one, other := normal(a), normal(b)
				covers, meets, and := one.Covers(other), one.Meets(other), one.And(other)
				if covers && i != j {
					covered++
				}
				if meets == match.No {
					apart++
				}
				if meets != other.Meets(one) {
					t.Fatalf("%s and %s meet one way only", shown(a), shown(b))
				}
				for _, r := range requests {
					x, y := takes(a, r), takes(b, r)
					if covers && y && !x {
						t.Fatalf("%s does not cover %s: %+v", shown(a), shown(b), r)
					}
					if meets == match.No && x && y {
						t.Fatalf("%s and %s meet: %+v", shown(a), shown(b), r)
					}
					for _, c := range routes {
						if x && y && normal(c).Covers(and) && !takes(c, r) {
							t.Fatalf("%s does not cover what fits both %s and %s: %+v", shown(c), shown(a), shown(b), r)
						}
					}
				}
			}
		}
	})
}

// Routes.Add finds what comparing all pairs finds.
func TestFirstShadow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var routes match.Routes
		var before []*match.Route
		for range rapid.IntRange(2, 12).Draw(t, "routes") {
			r := normal(drawMatch(t))
			want := slices.IndexFunc(before, func(b *match.Route) bool { return b.Shadows(r) })
			if got := routes.Add(r); got != want {
				t.Fatalf("%d shadows it, not %d", want, got)
			}
			before = append(before, r)
		}
	})
}

// TestPairs: Pairs yields every pair of routes that can meet, once.
func TestPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		routes := make([]*match.Route, rapid.IntRange(0, 8).Draw(t, "routes"))
		for i := range routes {
			routes[i] = normal(drawMatch(t))
		}
		seen := map[[2]int]bool{}
		for i, j := range match.Pairs(routes) {
			if i >= j || seen[[2]int{i, j}] {
				t.Fatalf("%d and %d come twice, or in the wrong order", i, j)
			}
			seen[[2]int{i, j}] = true
		}
		for i := range routes {
			for j := i + 1; j < len(routes); j++ {
				if routes[i].Meets(routes[j]) != match.No && !seen[[2]int{i, j}] {
					t.Fatalf("%d and %d can meet", i, j)
				}
			}
		}
	})
}

// TestYes: where the answer is Yes, there is a request that fits both routes.
func TestYes(t *testing.T) {
	var values []string
	for _, a := range texts {
		for _, b := range texts {
			values = append(values, a+b, a+"z"+b)
		}
	}
	sure := 0
	checkUntil(t, func() bool { return sure > 0 }, func(t *rapid.T) {
		a, b := &routev3.RouteMatch{PathSpecifier: drawMatch(t).GetPathSpecifier()}, &routev3.RouteMatch{PathSpecifier: drawMatch(t).GetPathSpecifier()}
		for _, m := range []*routev3.RouteMatch{a, b} {
			if rapid.Bool().Draw(t, "any case") {
				m.CaseSensitive = wrapperspb.Bool(false)
			}
			h := drawHeader(t)
			h.Name = "x"
			m.Headers = []*routev3.HeaderMatcher{h}
		}
		if normal(a).Meets(normal(b)) != match.Yes {
			return
		}
		sure++
		tried := append(joined(a, b), paths...)
		path := slices.ContainsFunc(values, func(more string) bool {
			return slices.ContainsFunc(tried, func(p string) bool {
				return slices.ContainsFunc([]request{{path: p + more}, {path: "/a" + p + more}, {path: "/A" + p + more}, {method: "CONNECT"}}, func(r request) bool {
					return takesPath(a, r) && takesPath(b, r)
				})
			})
		})
		header := slices.ContainsFunc(append(slices.Clone(values), "missing"), func(v string) bool {
			r := request{headers: map[string]string{"x": v}}
			if v == "missing" {
				r.headers = nil
			}
			return takesHeader(a.GetHeaders()[0], r) && takesHeader(b.GetHeaders()[0], r)
		})
		if !path || !header {
			t.Fatalf("%s and %s do not meet: path %t, header %t", shown(a), shown(b), path, header)
		}
	})
}

// joined returns paths that begin like one of the matches and go on like the other, which may be in another case.
func joined(a, b *routev3.RouteMatch) (all []string) {
	text := func(m *routev3.RouteMatch) string { return m.GetPath() + m.GetPrefix() + m.GetPathSeparatedPrefix() }
	one, other := text(a), text(b)
	return []string{one + other[min(len(one), len(other)):], other + one[min(len(one), len(other)):]}
}

func shown(m *routev3.RouteMatch) string { return protojson.Format(m) }
