package routetest

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/redact"
	"github.com/xdslint/xdslint/internal/walk"
)

// LogRecorder writes tests of the requests in an access log. Of requests that go the same way, it writes a few.
type LogRecorder struct {
	*Recorder
	readers    []reader
	boundaries walk.Boundaries
	kept       map[string]int // by the way that the requests go
	written    map[string]bool
	began      bool
}

// OfLog returns a recorder that reads lines of access logs: of those that the configuration has, and in usual formats.
func (r *Recorder) OfLog(v graph.View) *LogRecorder {
	return &LogRecorder{Recorder: r, readers: readersOf(v), boundaries: walk.BoundariesOf(v), kept: map[string]int{}, written: map[string]bool{}}
}

// Knows reports whether a line is one of a log, and not a request in JSON. After one, all are.
func (r *LogRecorder) Knows(line string) bool {
	r.began = r.began || !strings.HasPrefix(line, "{") || r.read(line).first("RESPONSE_CODE") != ""
	return r.began
}

// Line reads a line, and writes a test if no other one is like it. An error says why the line does not become a test.
func (r *LogRecorder) Line(line string) error {
	e := r.read(line)
	if e == nil {
		return errors.New("it is not in a format of the configuration's access logs, nor in a usual one")
	}
	q, err := r.request(e)
	if err != nil {
		return err
	}
	q, a, err := r.follow(q, e)
	if err != nil {
		return err
	}
	way, name := wayOf(a), inline(q)
	if r.kept[way] >= perWay || r.written[name] {
		return nil
	}
	r.kept[way]++
	r.written[name] = true
	return r.Record(q)
}

// read returns what a line says, if it has what makes a request.
func (r *LogRecorder) read(line string) entry {
	for _, read := range r.readers {
		if e := read(line); e.first("REQ(:method)") != "" && pathOf(e) != "" {
			return e
		}
	}
	return nil
}

// pathOf returns the path as the client sent it, if the log has that.
func pathOf(e entry) string {
	return e.first("REQ(x-envoy-original-path?:path)", "REQ(x-envoy-original-path)", "REQ(:path)")
}

// request makes the request of a line, with the headers and the query that the configuration looks at.
func (r *LogRecorder) request(e entry) (*walk.Request, error) {
	path := pathOf(e)
	if len(r.boundaries.Queries) == 1 { // none but the empty one
		path, _, _ = strings.Cut(path, "?")
	}
	path = redact.Looks(path)
	q := &walk.Request{Method: e["REQ(:method)"], Path: &path}
	if host := e.first("REQ(x-envoy-original-host?:authority)", "REQ(x-envoy-original-host)", "REQ(:authority)", "REQ(host)"); host != "" {
		q.Authority = &host
	}
	switch e["PROTOCOL"] {
	case "HTTP/2":
		q.HTTP = "2"
	case "HTTP/1.0":
		q.HTTP = "1.0"
	case "HTTP/1.1", "":
	default:
		return nil, fmt.Errorf("%s is not a protocol that a test can have", e["PROTOCOL"])
	}
	for operator, value := range e {
		name, ok := strings.CutPrefix(strings.TrimSuffix(operator, ")"), "REQ(")
		if _, matched := r.boundaries.Headers[name]; ok && matched && !strings.HasPrefix(name, ":") && !redact.Credential(name) {
			q.Headers = append(q.Headers, walk.Header{name, redact.Looks(value)})
		}
	}
	slices.SortFunc(q.Headers, func(a, b walk.Header) int { return strings.Compare(a[0], b[0]) })
	return q, nil
}

// follow walks the request over each connection that it may have come on, and returns the first one on which Envoy does what the log says.
func (r *LogRecorder) follow(q *walk.Request, e entry) (*walk.Request, *walk.Answer, error) {
	var wrong error
	for _, on := range r.connections(q, e) {
		a, err := r.answer(on, e)
		if err == nil {
			err = contradiction(a, e)
		}
		if err == nil {
			return on, a, nil
		}
		if wrong == nil {
			wrong = err
		}
	}
	return nil, nil, wrong
}

// answer walks a request. Filters of which it is not known what they do have let it pass, if the log says what Envoy does then.
func (r *LogRecorder) answer(q *walk.Request, e entry) (*walk.Answer, error) {
	a, err := r.walker.Walk(q)
	if err != nil || len(undecided(a)) == 0 {
		return a, err
	}
	passing := *q
	passing.Passing = undecided(a)
	b, err := r.walker.Walk(&passing)
	if err != nil || e["UPSTREAM_HOST"] == "" && (forwarded(b) || contradiction(b, e) != nil) {
		return a, err
	}
	*q = passing
	return b, nil
}

func forwarded(a *walk.Answer) bool { return a.Cluster != nil || len(a.Weighted) > 0 }

// connections returns the request without TLS and with it, to each listener, as far as the log does not say which.
func (r *LogRecorder) connections(q *walk.Request, e entry) (all []*walk.Request) {
	listeners := r.walker.Listeners()
	_, port, _ := net.SplitHostPort(e["DOWNSTREAM_LOCAL_ADDRESS"])
	if n, err := strconv.ParseUint(cmp.Or(e["DOWNSTREAM_LOCAL_PORT"], port), 10, 16); err == nil {
		at := slices.DeleteFunc(slices.Clone(listeners), func(l walk.Listener) bool { return l.Port != uint32(n) })
		if len(at) > 0 { // else the port is another one where Envoy runs
			listeners = at
		}
	}
	name := e.first("REQUESTED_SERVER_NAME")
	for _, l := range listeners {
		plain, secure := *q, *q
		if len(r.walker.Listeners()) > 1 {
			plain.Listener, secure.Listener = l, l
		}
		if secure.TLS, secure.SNI = true, name; name != "" {
			all = append(all, &secure)
			continue
		}
		if q.Authority != nil {
			secure.SNI = withoutPort(*q.Authority)
		}
		all = append(all, &plain, &secure)
	}
	return all
}

// undecided returns the filters of which it is not known what they do.
func undecided(a *walk.Answer) (names []string) {
	for _, f := range a.Filters {
		if f.Does == "unknown" {
			names = append(names, f.Name)
		}
	}
	return names
}

// contradiction returns in what the log and the configuration differ.
func contradiction(a *walk.Answer, e entry) error {
	_, weighted := a.Weighted[e.first("UPSTREAM_CLUSTER_RAW", "UPSTREAM_CLUSTER")]
	cluster, route, status := e.first("UPSTREAM_CLUSTER_RAW", "UPSTREAM_CLUSTER"), e["ROUTE_NAME"], e["RESPONSE_CODE"]
	switch {
	case route != "" && route != a.Route && a.Unknown["route"] == "":
		return fmt.Errorf("the log says route %q, and the configuration route %q", route, a.Route)
	case cluster != "" && !weighted && cluster != a.Target && a.Unknown["cluster"] == "":
		return fmt.Errorf("the log says cluster %q, and the configuration cluster %q", cluster, a.Target)
	case e["UPSTREAM_HOST"] != "" && !forwarded(a) && a.Unknown["status"] == "":
		return fmt.Errorf("an upstream answered, and the configuration says that Envoy answers (%s)", a.Details)
	case !forwarded(a) && a.Status != nil && a.Unknown["status"] == "" && status != "" && status != strconv.Itoa(*a.Status):
		return fmt.Errorf("the log says status %s, and the configuration %d", status, *a.Status)
	case !forwarded(a) && a.Status == nil && a.Unknown["status"] == "" && status != "" && status != "0":
		return fmt.Errorf("the log says status %s, and Envoy closes the connection (%s)", status, a.Details)
	}
	return nil
}
