package match

import (
	"slices"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/types/known/structpb"
)

// Request is a request as routes see it. Parameter and Cookie return the first value of a name, and whether there is one.
type Request struct {
	Path      string // without query and fragment
	Plain     string // Path, without parameters if the table ignores those
	Pathless  bool
	Connect   bool                       // a CONNECT request, or one that upgrades to connect-udp
	Header    func(name string) []string // all values; since Envoy 1.39, each is matched by itself, and before, there is one with commas
	Parameter func(name string) (string, bool)
	Cookie    func(name string) (string, bool)
	// TLS returns "true" or "false" for the properties presented and validated of the client's certificate, or false if that is not known.
	TLS func(property string) (string, bool)
	// Share reports whether the request is in a part of the traffic.
	Share func(key string, numerator, denominator uint64) Overlap
	// Metadata is the dynamic metadata by namespace; nil: it is not known.
	Metadata map[string]*structpb.Struct
}

// Miss is what of a request does not fit a route, or may not.
type Miss struct {
	What string // path, method, header, query parameter, cookie, client certificate, metadata, share of the traffic
	Name string // of a header, parameter or cookie
}

var subjects = map[subject]string{
	header: "header", query: "query parameter", cookie: "cookie", tls: "client certificate", state: "metadata",
}

// Fit reports whether a request fits the route, and what does not, or may not if that cannot be decided.
func (r *Route) Fit(q *Request) (fits Overlap, miss Miss) {
	fits = Yes
	and := func(o Overlap, m Miss) {
		if o < fits {
			fits, miss = o, m
		}
	}
	and(r.fitPath(q))
	for _, c := range r.conditions {
		if fits == No {
			return fits, miss
		}
		m := Miss{What: subjects[c.of], Name: c.name}
		if c.of == state || c.of == tls {
			m.Name = ""
		}
		and(c.fit(q), m)
	}
	if r.share != nil {
		and(q.Share(r.share.key, r.share.numerator, r.share.denominator), Miss{What: "share of the traffic"})
	}
	if r.vague {
		and(Perhaps, Miss{What: "unknown field"})
	}
	return fits, miss
}

func (r *Route) fitPath(q *Request) (Overlap, Miss) {
	if r.connect {
		return certain(q.Connect), Miss{What: "method"}
	}
	path := Miss{What: "path"}
	if q.Pathless {
		return No, path
	}
	fits := No
	for _, p := range r.paths {
		value := q.Plain
		if strings.HasPrefix(p.same, templatePrefix) {
			value = q.Path
		}
		fits = either(fits, p.holds(value))
	}
	return fits, path
}

func (c condition) fit(q *Request) Overlap {
	var value string
	var ok bool
	switch c.of {
	case header:
		return c.takes(q.Header(c.name)...)
	case query:
		value, ok = q.Parameter(c.name)
	case cookie:
		value, ok = q.Cookie(c.name)
	case tls:
		if value, ok = q.TLS(c.name); !ok {
			return Perhaps
		}
	default:
		return c.fitMetadata(q)
	}
	if !ok {
		return c.takes()
	}
	return c.takes(value)
}

// takes reports whether one of some values fits, or a missing one if there are none.
func (c condition) takes(values ...string) Overlap {
	switch {
	case len(values) == 0 && c.vague:
		return Perhaps
	case len(values) == 0:
		return certain(c.missing)
	}
	fits := No
	for _, t := range c.values {
		for _, value := range values {
			fits = either(fits, t.holds(value))
		}
	}
	if c.not {
		return Yes - fits
	}
	return fits
}

// Candidates returns the indexes of the routes whose paths can begin like a path, in order. Their paths need not fit.
func (rs *Routes) Candidates(path string) (all []int) {
	head := headOf(path)
	for n := 0; n <= len(head); n++ {
		all = append(all, rs.plain[head[:n]]...)
		for _, indexes := range rs.conditional[head[:n]] {
			all = append(all, indexes...)
		}
	}
	slices.Sort(all)
	return all
}

// At returns a route by its index.
func (rs *Routes) At(i int) *Route { return rs.all[i] }

// Len returns how many routes there are.
func (rs *Routes) Len() int { return len(rs.all) }

// Header is a condition on a header of a request.
type Header struct{ c condition }

// NewHeader returns the condition of a matcher.
func NewHeader(m *routev3.HeaderMatcher) Header { return Header{headerCondition(m)} }

// Fit reports whether a header fits. get returns its values, as Request.Header does.
func (h Header) Fit(get func(name string) []string) Overlap { return h.c.takes(get(h.c.name)...) }

// Text is a set of strings.
type Text struct{ t text }

// NewText returns the strings that a matcher matches.
func NewText(m *matcherv3.StringMatcher) Text { return Text{textOf(m)} }

// Fit reports whether a string fits.
func (t Text) Fit(s string) Overlap { return t.t.holds(s) }
