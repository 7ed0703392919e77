package match

import (
	"iter"
	"slices"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	uritemplatev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/path/match/uri_template/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/internal/ascii"
)

// Route is which requests a route takes, in a form that can be compared (RouteEntryImplBase::matchRoute in source/common/router/config_impl.cc, and
// matches of its subclasses).
type Route struct {
	paths      []text // any of them
	connect    bool   // CONNECT requests instead
	conditions []condition
	share      *share
	vague      bool // it may take less than all that fits
	passes     bool // a request that it takes can still go on to the next route
}

// share is a part of the requests. All routes draw the same random number for a request (VirtualHostImpl::getRouteFromRoutes).
type share struct {
	key                    string
	numerator, denominator uint64
}

// NewRoute reads a route. open returns what an Any holds, nil where that is not known; it may itself be nil.
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
		n.share = &share{f.GetRuntimeKey(), uint64(f.GetDefaultValue().GetNumerator()), denominator(f.GetDefaultValue().GetDenominator())}
	}
	// RouteEntryImplBase::clusterEntry asks the plugin, which can decline.
	n.passes = r.GetRoute().GetClusterSpecifierPlugin() != "" || r.GetRoute().GetInlineClusterSpecifierPlugin() != nil
	return n
}

func denominator(d typev3.FractionalPercent_DenominatorType) uint64 {
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
	default: // Envoy refuses it
		r.vague = true
		r.addPath(text{form: other})
	}
}

// textOfTemplate is UriTemplateMatcher::match. It sees the path with its parameters, where ignore_path_parameters_in_path_matching takes them from all
// others: what comes after a semicolon is of no use to compare.
func textOfTemplate(template string) text {
	t := text{form: other, literal: template}
	if i := strings.IndexAny(template, "{*;"); i >= 0 {
		t.literal = template[:i]
	}
	if template != "" {
		t.same = "template " + template
	}
	return t
}

// addPath leaves out what no path is like: each begins with a slash and has no query or fragment.
func (r *Route) addPath(t text) {
	switch {
	case strings.ContainsAny(t.literal, "?#") || t.literal != "" && t.literal[0] != '/' || t.form == is && t.literal == "":
		return
	case t.form == begins && t.literal == "/":
		t = anything
	}
	r.paths = append(r.paths, t)
}

// Never reports whether no request can fit the path of the route, such as a prefix with a query.
func (r *Route) Never() bool { return !r.connect && len(r.paths) == 0 }

// Shadows reports whether the route certainly takes every request that a later one of the same virtual host would take, so that one never fires. One that
// never would is shadowed by none.
func (r *Route) Shadows(later *Route) bool { return !r.passes && !later.Never() && r.Covers(later) }

// Covers reports whether each request that fits another route certainly fits this one.
func (r *Route) Covers(o *Route) bool {
	if r.vague || r.connect != o.connect || !r.share.covers(o.share) || !anyCovers(r.paths, o.paths) {
		return false
	}
	return !slices.ContainsFunc(r.conditions, func(c condition) bool {
		return !c.always() && !slices.ContainsFunc(o.conditions, func(d condition) bool { return c.about(d) && c.covers(d) })
	})
}

// covers compares shares with one key, which the runtime can replace by one value for both.
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

// pathsMeet: a CONNECT request has a path in HTTP/2 and where it is for UDP.
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
		// Each pair of three conditions about the same can meet, and yet not all.
		if !c.independent() || slices.ContainsFunc(r.conditions[:i], c.about) {
			result = both(result, Perhaps)
		}
	}
	return result
}

// And is a route that takes at least all requests that fit both.
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

// Pairs yields the indexes of all pairs of routes whose paths begin alike, the smaller one first: no others can meet. There can be thousands of routes.
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

// Routes are those of a virtual host in their order; the first that fits a request takes it. The zero value has none.
type Routes struct {
	all    []*Route
	byHead map[string][]int // by what all of a route's paths begin with
}

// Add puts a route after the others. It returns the first of them that shadows it, -1 if none does.
func (rs *Routes) Add(r *Route) int {
	by := rs.shadowing(r)
	if rs.byHead == nil {
		rs.byHead = map[string][]int{}
	}
	rs.byHead[r.head()] = append(rs.byHead[r.head()], len(rs.all))
	rs.all = append(rs.all, r)
	return by
}

// shadowing finds the first route that shadows another one, -1 if none does.
func (rs *Routes) shadowing(r *Route) int {
	by, head := -1, r.head()
	for n := 0; n <= len(head); n++ {
		for _, i := range rs.byHead[head[:n]] {
			if by >= 0 && i > by {
				break
			}
			if rs.all[i].Shadows(r) {
				by = i
				break
			}
		}
	}
	return by
}

// head is what all paths begin with: of what the route covers it is the same, or longer.
func (r *Route) head() string {
	head := ""
	for i, p := range r.paths {
		if i == 0 || len(p.literal) < len(head) {
			head = p.literal
		}
	}
	return ascii.Lower(head)
}
