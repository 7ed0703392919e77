package prove

import (
	"maps"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/internal/walk"
)

// way is how a connection gets to a filter chain.
type way struct {
	base    walk.Request // without a host and a path
	address string
	passing []string // filters for which only the user has credentials
}

// with returns a way on which requests have more headers.
func (w way) with(headers []walk.Header) way {
	w.base.Headers = slices.Concat(w.base.Headers, headers)
	return w
}

// request returns a request that comes this way. The example can be nil.
func (w way) request(authority string, e *match.Example) *walk.Request {
	if authority == "" {
		authority = "any"
	}
	path := "/"
	r := with(&w.base, func(r *walk.Request) { r.Authority, r.Path = &authority, &path })
	if e != nil {
		fillIn(r, e)
	}
	return r
}

// fillIn gives a request what an example has.
func fillIn(r *walk.Request, e *match.Example) {
	if e.Path != "" {
		path := e.Path
		r.Path = &path
	}
	if e.Connect {
		r.Method, r.HTTP = "CONNECT", "2"
		r.Path = nil
	}
	for i, q := range e.Parameters {
		if r.Path != nil {
			*r.Path += map[bool]string{true: "?", false: "&"}[i == 0] + q[0] + "=" + q[1]
		}
	}
	for _, h := range e.Headers {
		switch h[0] {
		case ":method":
			if h[1] != "" {
				r.Method = h[1]
			}
		case ":authority", "host":
			r.Authority = &h[1]
		case ":path":
			if strings.HasPrefix(h[1], "/") {
				r.Path = &h[1]
			}
		case ":scheme":
			r.Scheme, r.HTTP = h[1], "2"
		default:
			r.Headers = append(r.Headers, walk.Header(h))
		}
	}
	var cookies []string
	for _, c := range e.Cookie {
		cookies = append(cookies, c[0]+"="+c[1])
	}
	if len(cookies) > 0 {
		r.Headers = append(r.Headers, walk.Header{"cookie", strings.Join(cookies, "; ")})
	}
	if r.TLS {
		r.ClientCert.Presented = r.ClientCert.Presented || e.Certificate["presented"] || e.Certificate["validated"]
	}
}

// with returns a changed copy of a request.
func with(r *walk.Request, change func(*walk.Request)) *walk.Request {
	copied := *r
	copied.Headers = slices.Clone(r.Headers)
	change(&copied)
	return &copied
}

// variants returns a request, and requests that take the same route and that filters, redirects and rewrites may treat in another way.
func (p *prover) variants(w way, r *walk.Request) []*walk.Request {
	all := []*walk.Request{r}
	if len(w.passing) > 0 {
		passing := *r
		passing.Passing = w.passing
		all = append(all, &passing)
		r = &passing
	}
	add := func(change func(*walk.Request)) { all = append(all, with(r, change)) }
	for _, method := range []string{"POST", "OPTIONS", "HEAD"} {
		add(func(r *walk.Request) { r.Method = method })
	}
	if r.Path != nil && !strings.Contains(*r.Path, "?") {
		for _, more := range []string{"?x=1", "/x/1?x=1"} {
			path := *r.Path + more
			add(func(r *walk.Request) { r.Path = &path })
		}
	}
	if r.Source == "" {
		for _, source := range sources {
			add(func(r *walk.Request) { r.Source = source })
		}
	}
	for _, h := range []walk.Header{{"origin", "https://a.test"}, {"x-forwarded-proto", "https"}, {"content-type", "application/grpc"}} {
		add(func(r *walk.Request) { r.Headers = append(r.Headers, h) })
	}
	add(func(r *walk.Request) {
		r.Headers = append(r.Headers, walk.Header{"connection", "upgrade"}, walk.Header{"upgrade", "websocket"})
	})
	for _, name := range slices.Sorted(maps.Keys(p.values.Headers)) {
		for _, value := range p.values.Headers[name] {
			if !strings.HasPrefix(name, ":") && name != "host" && len(all) < maxVariants {
				add(func(r *walk.Request) { r.Headers = append(r.Headers, walk.Header{name, value}) })
			}
		}
	}
	return all
}

const maxVariants = 100

// sources are addresses of clients inside and outside.
var sources = []string{"127.0.0.1", "203.0.113.7"}

// search looks for a difference among the hosts and paths of both configurations.
func (p *prover) search(w way) bool {
	return p.anyDiffers(w, func(yield func(*walk.Request) bool) {
		left := max(leastSearched, min(maxSearched, p.unsearched/2))
		for _, path := range p.values.Paths {
			for _, authority := range p.values.Authorities {
				for _, raw := range written(path) {
					p.unsearched--
					if left--; left < 0 || !yield(w.request(authority, &match.Example{Path: raw})) {
						return
					}
				}
			}
		}
		for _, r := range p.variants(w, w.request(slices.Concat(p.values.Authorities, []string{""})[0], nil)) {
			if !yield(r) {
				return
			}
		}
	})
}

// Limits of a search: thousands of filter chains may differ in what no request shows.
const (
	maxSearched   = 20_000           // requests
	inAllSearches = 10 * maxSearched // of which each search takes half of what is left at most
	leastSearched = 100
)

// written returns a path, and other ways to write it that Envoy may treat alike.
func written(path string) []string {
	return []string{path, "/" + path, "/x/.." + path, "/." + path, strings.Replace(path, "/", "/%2F", 1), path + "%2Fx", path + "#x"}
}
