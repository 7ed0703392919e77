package match

import (
	"iter"
	"regexp"
	"slices"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	uritemplatev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/path/match/uri_template/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/internal/ascii"
)

// Route describes the requests that a route takes, in a form that can be compared (RouteEntryImplBase::matchRoute in
// source/common/router/config_impl.cc, and matches of its subclasses).
type Route struct {
	paths      []text // any of them
	connect    bool   // CONNECT requests instead
	conditions []condition
	share      *share
	vague      bool // it may take fewer requests than the conditions say
	passes     bool // it can pass a request that it takes to the next route
}

// share is a part of the requests. All routes draw the same random number for a request (VirtualHostImpl::getRouteFromRoutes).
type share struct {
	key                    string
	numerator, denominator uint64
}

// NewRoute returns the Route of a message. open returns the content of an Any, or nil if that is not known. open may be nil.
func NewRoute(r *routev3.Route, open func(*anypb.Any) proto.Message) *Route {
	m := r.GetMatch()
	n := &Route{vague: len(m.ProtoReflect().GetUnknown()) > 0}
	n.readPath(m, open)
	for _, h := range m.GetHeaders() {
		n.conditions = append(n.conditions, headerCondition(h))
	}
	for _, q := range m.GetQueryParameters() {
		n.conditions = append(n.conditions, queryCondition(q))
	}
	for _, c := range m.GetCookies() {
		n.conditions = append(n.conditions, cookieCondition(c))
	}
	if m.GetGrpc() != nil {
		n.conditions = append(n.conditions, grpcCondition())
		n.vague = n.vague || n.connect // a request without a path is not gRPC
	}
	n.conditions = append(n.conditions, tlsConditions(m.GetTlsContext())...)
	for _, d := range m.GetDynamicMetadata() {
		n.conditions = append(n.conditions, stateCondition(d))
	}
	for _, f := range m.GetFilterState() {
		n.conditions = append(n.conditions, stateCondition(f))
	}
	if f := m.GetRuntimeFraction(); f != nil {
		n.share = &share{f.GetRuntimeKey(), uint64(f.GetDefaultValue().GetNumerator()), Denominator(f.GetDefaultValue().GetDenominator())}
	}
	// RouteEntryImplBase::clusterEntry asks the plugin, which can decline.
	n.passes = r.GetRoute().GetClusterSpecifierPlugin() != "" || r.GetRoute().GetInlineClusterSpecifierPlugin() != nil
	return n
}

// Denominator returns the number that a fraction divides by (ProtobufPercentHelper::fractionalPercentDenominatorToInt).
func Denominator(d typev3.FractionalPercent_DenominatorType) uint64 {
	switch d {
	case typev3.FractionalPercent_TEN_THOUSAND:
		return 10_000
	case typev3.FractionalPercent_MILLION:
		return 1_000_000
	}
	return 100
}

func (r *Route) readPath(m *routev3.RouteMatch, open func(*anypb.Any) proto.Message) {
	sensitive := m.GetCaseSensitive()
	fold := sensitive != nil && !sensitive.GetValue()
	switch by := m.GetPathSpecifier().(type) {
	case *routev3.RouteMatch_Prefix:
		r.addPath(newText(begins, by.Prefix, fold))
	case *routev3.RouteMatch_Path:
		r.addPath(newText(is, by.Path, fold))
	case *routev3.RouteMatch_PathSeparatedPrefix:
		r.addPath(newText(is, by.PathSeparatedPrefix, fold))
		r.addPath(newText(begins, by.PathSeparatedPrefix+"/", fold))
	case *routev3.RouteMatch_SafeRegex:
		r.addPath(textOfRegex(by.SafeRegex.GetRegex()))
	case *routev3.RouteMatch_ConnectMatcher_:
		r.connect = true
	case *routev3.RouteMatch_PathMatchPolicy:
		var template string
		if open != nil {
			config, _ := open(by.PathMatchPolicy.GetTypedConfig()).(*uritemplatev3.UriTemplateMatchConfig)
			template = config.GetPathTemplate()
		}
		r.addPath(textOfTemplate(template))
	default: // Envoy rejects it
		r.vague = true
		r.addPath(text{form: other})
	}
}

// textOfTemplate follows UriTemplateMatcher::match. Templates see the path with its parameters, even where ignore_path_parameters_in_path_matching
// removes them for all other matchers. So the part after a semicolon cannot be compared.
func textOfTemplate(template string) text {
	t := text{form: other, literal: template}
	if i := strings.IndexAny(template, "{*;"); i >= 0 {
		t.literal = template[:i]
	}
	if template != "" {
		t.same, t.check = templatePrefix+template, check(func() (*regexp.Regexp, error) { return Template(template) })
	}
	return t
}

// templatePrefix begins the same of a template.
const templatePrefix = "template "

// addPath leaves out texts that no path fits: every path begins with a slash and does not have a query or fragment.
func (r *Route) addPath(t text) {
	switch {
	case strings.ContainsAny(t.literal, "?#") || t.literal != "" && t.literal[0] != '/' || t.form == is && t.literal == "":
		return
	case t.form == begins && t.literal == "/":
		t = anything
	}
	r.paths = append(r.paths, t)
}

// Never reports whether no request can fit the path of the route, such as a prefix with a query, or one of its conditions.
func (r *Route) Never() bool {
	return !r.connect && len(r.paths) == 0 || slices.ContainsFunc(r.conditions, condition.never)
}

// Shadows reports whether it is certain that the route takes every request that a later route of the same virtual host matches, so that the later route
// is never reached. A route for which Never is true is not shadowed.
func (r *Route) Shadows(later *Route) bool { return !r.passes && !later.Never() && r.Covers(later) }

// Covers reports whether it is certain that every request that fits another route fits this one.
func (r *Route) Covers(o *Route) bool {
	if r.vague || r.connect != o.connect || !r.share.covers(o.share) || !anyCovers(r.paths, o.paths) {
		return false
	}
	return !slices.ContainsFunc(r.conditions, func(c condition) bool {
		return !c.always() && !slices.ContainsFunc(o.conditions, func(d condition) bool { return c.about(d) && c.covers(d) })
	})
}

// covers reports whether a share contains another one. Only shares with the same runtime key can be compared: the runtime replaces both by one value.
func (s *share) covers(o *share) bool {
	return s == nil || o != nil && s.key == o.key && s.denominator == o.denominator && s.numerator >= o.numerator
}

// Meets reports whether a request can fit both routes.
func (r *Route) Meets(o *Route) Overlap {
	result := r.pathsMeet(o)
	if result == No {
		return No
	}
	for _, c := range r.conditions {
		result = both(result, c.meetAll(o.conditions))
	}
	result = both(result, both(r.conditionsMeet(), o.conditionsMeet()))
	if r.vague || o.vague || r.share != nil || o.share != nil {
		result = both(result, Perhaps)
	}
	return result
}

// pathsMeet reports whether a request can fit the paths of both routes. A CONNECT request has a path in HTTP/2 and for UDP.
func (r *Route) pathsMeet(o *Route) Overlap {
	switch {
	case r.connect && o.connect:
		return Yes
	case r.connect || o.connect:
		return both(Perhaps, certain(!r.Never() && !o.Never()))
	}
	return anyMeets(r.paths, o.paths)
}

// conditionsMeet reports whether something fits all conditions of one route, on any path.
func (r *Route) conditionsMeet() Overlap {
	result := Yes
	for i, c := range r.conditions {
		result = both(result, both(c.meets(c), c.meetAll(r.conditions[:i])))
		// Of three conditions about the same value, each pair may meet although all three do not.
		if !c.independent() || slices.ContainsFunc(r.conditions[:i], c.about) {
			result = both(result, Perhaps)
		}
	}
	return result
}

// And returns a route that takes at least all requests that fit both routes.
func (r *Route) And(o *Route) *Route {
	n := &Route{conditions: slices.Concat(r.conditions, o.conditions), connect: r.connect || o.connect, share: r.share}
	if n.share == nil {
		n.share = o.share
	}
	for _, p := range r.paths {
		for _, q := range o.paths {
			if p.meets(q) != No {
				n.paths = append(n.paths, p.and(q))
			}
		}
	}
	return n
}

// Pairs yields the indexes of all pairs of routes whose paths begin alike, the smaller index first. Other pairs cannot meet. That is faster than to
// compare all pairs, since there can be thousands of routes.
func Pairs(routes []*Route) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		byHead := map[string][]int{}
		for i, r := range routes {
			byHead[r.head()] = append(byHead[r.head()], i)
		}
		for i, r := range routes {
			head := r.head()
			for n := 0; n <= len(head); n++ {
				for _, j := range byHead[head[:n]] {
					if (n < len(head) && i != j || i < j) && !yield(min(i, j), max(i, j)) {
						return
					}
				}
			}
		}
	}
}

// head returns the common beginning of all paths. If the route covers another one, the head of the other begins with it.
func (r *Route) head() string {
	head := ""
	for i, p := range r.paths {
		if i == 0 || len(p.literal) < len(head) {
			head = p.literal
		}
	}
	return headOf(head)
}

func headOf(path string) string { return ascii.Lower(path[:min(len(path), maxHead)]) }

// maxHead limits the cost of looking up all beginnings of a path.
const maxHead = 128
