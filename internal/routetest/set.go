package routetest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/internal/tree"
	"github.com/xdslint/xdslint/internal/walk"
)

// set describes all requests to a host, or to hosts that end with it, and to a path or paths that begin with it.
type set struct {
	text string // as in the file
	host string // can begin with a star
	path string
	base walk.Request // what all requests have
	node *tree.Node
}

const allRequests = "all requests to "

// readSet reads "all requests to *.example.com/path".
func (f *File) readSet(shared, n *tree.Node) *set {
	s := &set{text: n.Text, node: n, base: walk.Request{}}
	what, ok := strings.CutPrefix(n.Text, allRequests)
	if !ok || what == "" {
		f.reader.Errorf(n.Span(), "given: %q is not a map with the fields of a request, or %sHOST/PATH", n.Text, allRequests)
		return s
	}
	s.host, s.path = what, ""
	if i := strings.IndexByte(what, '/'); i >= 0 {
		s.host, s.path = what[:i], what[i:]
	}
	if shared != nil {
		for i, key := range shared.Keys {
			f.setField(&s.base, key.Name, &shared.Items[i])
		}
	}
	return s
}

// maxSet limits the requests of a set. Above it, not every variation of a request is tried on every path.
const maxSet = 200_000

// shownOfSet is how many of the ways in which requests are not as expected are shown, with a request for each.
const shownOfSet = 3

// runSet tries the requests at the boundaries of the configuration's matchers. Those that Envoy rejects before it looks for filters do not count.
func (t *ownTest) runSet(r *runner, result *Result) {
	wrong, seen := 0, map[string]bool{}
	for _, q := range t.set.requests(r) {
		a := r.walk(q, t.set.node.Span())
		if a == nil || len(a.Filters) == 0 && !lost(a) {
			continue
		}
		result.Requests++
		failures := r.judge(t.expect, q, a, true)
		if len(failures) == 0 {
			continue
		}
		wrong++
		if way := a.VirtualHost + "\n" + a.Route + "\n" + failures[0].Message(); !seen[way] && len(seen) < shownOfSet {
			seen[way] = true
			result.Failures = append(result.Failures, failures...)
		}
	}
	said := ""
	switch {
	case result.Requests == 0 && len(r.Faults) == 0:
		said = "Envoy does not route any of them"
	case wrong > 1:
		said = fmt.Sprintf("%d of %d are not as expected", wrong, result.Requests)
	default:
		return
	}
	result.Failures = append(result.Failures, Failure{Span: t.set.node.Span(), Got: said})
}

// requests returns the requests of the set. If there are too many, each host gets only the paths of its virtual host: its route depends on no other ones.
func (s *set) requests(r *runner) (all []*walk.Request) {
	b := walk.BoundariesOf(r.view)
	hosts, paths := s.hosts(b), s.paths(b)
	connections := s.connections(r, b, hosts[0])
	if len(connections)*len(hosts)*len(paths) <= maxSet {
		return product(connections, hosts, paths, s.variations(b), maxSet)
	}
	groups := walk.BoundariesByHost(r.view)
	for _, group := range groups {
		own := group.Boundaries
		limit := maxSet/len(groups) + 1
		hosts := s.hosts(own)
		some := thinned(connections, limit/len(hosts))
		all = append(all, product(some, hosts, thinned(s.paths(own), limit/(len(hosts)*len(some))), s.variations(own), limit)...)
	}
	return all
}

// product returns each host with each path over each connection, and these with variations: all of them, or as many as a limit allows.
func product(connections []walk.Request, hosts, paths []string, variations []func(*walk.Request), limit int) (all []*walk.Request) {
	for _, connection := range connections {
		for _, host := range hosts {
			for _, path := range paths {
				q := connection
				q.Authority, q.Path = &host, &path
				if q.IsTLS() && q.SNI == "" {
					q.SNI = withoutPort(host)
				}
				all = append(all, &q)
			}
		}
	}
	// Those that people write come first, since the first ones that are not as expected are shown.
	slices.SortStableFunc(all, func(a, b *walk.Request) int { return cmp.Compare(oddity(a), oddity(b)) })
	plain := all
	every := 1 + len(plain)*len(variations)/limit
	for i, q := range plain {
		for j := (every - i%every) % every; j < len(variations); j += every {
			varied := *q
			variations[j](&varied)
			all = append(all, &varied)
		}
	}
	return all
}

// oddity is smaller the more a request is like those that people write: short, and in lower case.
func oddity(q *walk.Request) int {
	text := *q.Authority + *q.Path
	if strings.ToLower(text) != text {
		return 2 * len(text)
	}
	return len(text)
}

// hosts returns the hosts of the set among those at the boundaries, and one that is certainly in it.
func (s *set) hosts(b walk.Boundaries) []string {
	first := strings.Replace(s.host, "*", "x", 1)
	if s.host == "*" {
		first = "any.test"
	}
	all := []string{first}
	for _, host := range b.Authorities {
		if host != first && s.has(host) {
			all = append(all, host)
		}
	}
	return all
}

// has reports whether a host, whatever its port is, is one of the set.
func (s *set) has(host string) bool {
	host = strings.ToLower(withoutPort(host))
	if tail, ok := strings.CutPrefix(s.host, "*"); ok {
		return strings.HasSuffix(host, strings.ToLower(tail)) && len(host) > len(tail)
	}
	return host == strings.ToLower(s.host)
}

func withoutPort(host string) string {
	name, _, _ := strings.Cut(host, ":")
	return name
}

// paths returns the paths of the set among those at the boundaries. Without a path in the set, there are those that a matcher may take for another path.
func (s *set) paths(b walk.Boundaries) []string {
	all := map[string]bool{s.path + "/": true, s.path + "/x": true}
	for _, path := range append(b.Paths, s.path) {
		switch {
		case path == "" || !strings.HasPrefix(path, s.path):
		case s.path == "":
			all["/"+path], all["/./"+path[1:]], all["/x/.."+path] = true, true, true
			fallthrough
		default:
			all[path] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// connections returns a request for each way into a listener: without TLS, and with TLS and each server name that leads to another filter chain.
func (s *set) connections(r *runner, b walk.Boundaries, host string) (all []walk.Request) {
	base := s.base
	if base.Method == "" {
		base.Method = "GET"
	}
	listeners := []walk.Listener{base.Listener}
	if base.Listener == (walk.Listener{}) {
		listeners = r.walker.Listeners()
	}
	if len(listeners) == 1 {
		listeners = []walk.Listener{base.Listener} // a request need not name it
	}
	for _, base.Listener = range listeners {
		all = append(all, base)
		if base.IsTLS() {
			continue
		}
		secure := base
		secure.TLS = true // the server name is the host
		all = append(all, secure)
		chains := map[string]bool{}
		for _, secure.SNI = range append(b.ServerNames, "other.test") {
			secure.Authority, secure.Path = &host, &root
			a, err := r.walker.Walk(&secure)
			if err == nil && a.Chain != "" && !chains[a.Chain] {
				chains[a.Chain] = true
				all = append(all, secure)
			}
		}
	}
	return all
}

var root = "/"

// variations returns changes of a request that a matcher can see.
func (s *set) variations(b walk.Boundaries) (all []func(*walk.Request)) {
	if s.base.Method == "" {
		for _, method := range []string{"POST", "DELETE", "OPTIONS", "HEAD"} {
			all = append(all, func(q *walk.Request) { q.Method = method })
		}
	}
	with := func(headers ...walk.Header) {
		all = append(all, func(q *walk.Request) { q.Headers = slices.Concat(q.Headers, headers) })
	}
	for _, kind := range []string{"websocket", "h2c"} {
		with(walk.Header{"connection", "upgrade"}, walk.Header{"upgrade", kind})
	}
	all = append(all, func(q *walk.Request) { q.ClientCert.Presented = true })
	with(walk.Header{"content-type", "application/grpc"})
	with(walk.Header{"origin", "https://other.test"}, walk.Header{"access-control-request-method", "GET"})
	for _, name := range slices.Sorted(maps.Keys(b.Headers)) {
		if !strings.HasPrefix(name, ":") {
			for _, value := range b.Headers[name] {
				with(walk.Header{name, value})
			}
		}
	}
	for _, query := range b.Queries {
		if query != "" {
			all = append(all, func(q *walk.Request) { path := *q.Path + query; q.Path = &path })
		}
	}
	if s.base.HTTP == "" {
		all = append(all, func(q *walk.Request) { q.HTTP = "2" })
	}
	return all
}
