package traffic

import (
	"slices"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/internal/ascii"
)

// route is one of a virtual host, and what its requests go by.
type route struct {
	message *routev3.Route
	paths   []paths
	only    bool // by nothing else than these
}

func newRoute(r *routev3.Route) route {
	return route{r, pathsOf(r.GetMatch()), byPathOnly(r.GetMatch())}
}

// routesMeet tells whether some request goes to the last route of both lists, past those before it.
func routesMeet(a, b []route) bool {
	x, y := a[len(a)-1], b[len(b)-1]
	for _, p := range x.paths {
		for _, q := range y.paths {
			both, ok := p.and(q)
			if ok && !taken(a[:len(a)-1], both) && !taken(b[:len(b)-1], both) {
				return !headersDiffer(x.message.GetMatch(), y.message.GetMatch())
			}
		}
	}
	return false
}

// upTo lists the routes that are asked before a route, and the route.
func upTo(routes []route, r *routev3.Route) []route {
	if i := slices.IndexFunc(routes, func(each route) bool { return each.message == r }); i >= 0 {
		return routes[:i+1]
	}
	return []route{newRoute(r)} // of a matcher
}

// taken tells whether one of the routes gets all requests for some paths.
func taken(routes []route, p paths) bool {
	return slices.ContainsFunc(routes, func(r route) bool { return r.only && slices.ContainsFunc(r.paths, p.within) })
}

// byPathOnly tells whether a route asks for nothing but a path, and for one that pathsOf knows exactly.
func byPathOnly(m *routev3.RouteMatch) bool {
	only := m != nil
	m.ProtoReflect().Range(func(fd protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		switch fd.Name() {
		case "prefix", "path", "path_separated_prefix", "case_sensitive":
		default:
			only = false
		}
		return only
	})
	return only
}

// headersDiffer tells whether two routes want different values of a header, such as the method.
func headersDiffer(a, b *routev3.RouteMatch) bool {
	for _, x := range a.GetHeaders() {
		for _, y := range b.GetHeaders() {
			v, isExact := exactValue(x)
			w, isExactToo := exactValue(y)
			if isExact && isExactToo && strings.EqualFold(x.GetName(), y.GetName()) && !strings.EqualFold(v, w) {
				return true
			}
		}
	}
	return false
}

func exactValue(h *routev3.HeaderMatcher) (string, bool) {
	value := h.GetStringMatch().GetExact()
	if value == "" {
		value = h.GetExactMatch() //nolint:staticcheck // Envoy still takes it
	}
	return value, value != "" && !h.GetInvertMatch() && !h.GetTreatMissingHeaderAsEmpty()
}

// paths is one path, or all that begin so.
type paths struct {
	text   string
	prefix bool
	fold   bool // in any case
}

// and is what both have: the narrower of them.
func (p paths) and(q paths) (both paths, ok bool) {
	if p.fold { // where they are equally long, the one to which case matters is the narrower
		p, q = q, p
	}
	x, y := p, q
	x.fold, y.fold = p.fold || q.fold, p.fold || q.fold
	switch {
	case x.within(y):
		return p, true
	case y.within(x):
		return q, true
	}
	return paths{}, false
}

// within tells whether all these paths are among others.
func (p paths) within(q paths) bool {
	if p.fold && !q.fold {
		return false
	}
	text, other := p.text, q.text
	if q.fold {
		text, other = ascii.Lower(text), ascii.Lower(other)
	}
	if q.prefix {
		return strings.HasPrefix(text, other)
	}
	return !p.prefix && text == other
}

func pathsOf(m *routev3.RouteMatch) []paths {
	sensitive := m.GetCaseSensitive()
	fold := sensitive != nil && !sensitive.GetValue()
	switch by := m.GetPathSpecifier().(type) {
	case *routev3.RouteMatch_Prefix:
		if by.Prefix != "" {
			return []paths{{by.Prefix, true, fold}}
		}
	case *routev3.RouteMatch_Path:
		return []paths{{by.Path, false, fold}}
	case *routev3.RouteMatch_PathSeparatedPrefix:
		return []paths{{by.PathSeparatedPrefix, false, fold}, {by.PathSeparatedPrefix + "/", true, fold}}
	}
	return []paths{{"/", true, false}} // a regular expression or a template can match anything
}
