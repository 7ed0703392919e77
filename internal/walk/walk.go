// Package walk follows a request through a configuration as Envoy 1.40 does: from the listener to the endpoints of a cluster, or to the answer that
// Envoy gives itself. What cannot be told from the configuration and the request is in Answer.Unknown, with the reason.
//
// A walk has these steps, each in a file of its name: connection (listener, filter chain, TLS), codec (what HTTP allows), manager (the HTTP connection
// manager: paths, hosts, headers that it sets), routing (scope, virtual host, route), filters (those that act have files of their own), router (cluster,
// rewrites, headers, redirects) and endpoints. Every step notes what it finds in the Answer, and reports whether the request goes on.
//
// Assumed are the defaults of Envoy's runtime guards unless the bootstrap sets them, healthy endpoints and an upstream that answers 200.
package walk

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/graph"
)

// Walker walks requests through one snapshot. It keeps what it has prepared, and is not safe for concurrent use.
type Walker struct {
	Brief    bool // answers do not list what did not take the request, which costs as much as all else where there is much of it
	Compared int  // how many routes were compared with requests, in all walks

	view      graph.View
	runtime   envoy.Runtime
	listeners []*graph.Resource
	named     map[string]*graph.Resource   // the first listener of each name
	ports     map[uint32][]*graph.Resource // the listeners of each port but those for UDP; 0: all of them
	chains    map[*listenerv3.Listener]*match.Chains
	managers  map[*listenerv3.FilterChain]*manager
	edges     map[*graph.Resource]map[*hcmv3.HttpConnectionManager][]*graph.Edge // to route tables and scopes
	levels    envoy.RouteTables
	tables    map[*routev3.RouteConfiguration]*table
	matchers  matchers
}

// New returns a Walker for a snapshot.
func New(v graph.View) *Walker {
	w := &Walker{
		view: v, runtime: envoy.RuntimeOf(v), chains: map[*listenerv3.Listener]*match.Chains{}, managers: map[*listenerv3.FilterChain]*manager{},
		edges: map[*graph.Resource]map[*hcmv3.HttpConnectionManager][]*graph.Edge{},
		named: map[string]*graph.Resource{}, ports: map[uint32][]*graph.Resource{}, levels: envoy.RouteTables{Snapshot: v}, tables: map[*routev3.RouteConfiguration]*table{}, matchers: newMatchers(),
	}
	for _, r := range v.All(graph.Listener) {
		if l, ok := r.Message.(*listenerv3.Listener); ok && l.GetApiListener() == nil {
			w.listen(r, l)
		}
	}
	return w
}

// journey is one walk.
type journey struct {
	*Walker
	request  *Request
	answer   *Answer
	at       graph.At // the listener
	listener *listenerv3.Listener
	conn     connection
	manager  *manager
	sent     *headers // as the client sent them
	headers  *headers
	table    *table
	level    *envoy.RouteLevel // the route, or nil
	host     *host
	redirect bool // to HTTPS, as the virtual host requires
	pathless bool
	unrouted bool   // Envoy makes the filters before it looks for a route
	port     string // that was removed from the host of a CONNECT request, with its colon
	decoded  bool
	moment   moment             // when headers are made
	delayed  bool               // by a filter
	local    bool               // x-forwarded-for has the address of Envoy, instead of a loopback address
	response headers            // what the configuration adds to the response
	filters  []envoy.HTTPFilter // of the request, once they are known
	metadata metadata           // dynamic metadata; nil: it is not known
	lookup   *Lookup            // nil: the request comes through a listener
	guarded  *Guarded           // not nil: the guards let the request pass, and are noted
}

// Walk returns what Envoy does with a request. An error means that the request itself makes no sense.
func (w *Walker) Walk(r *Request) (*Answer, error) { return w.walk(r, nil) }

func (w *Walker) walk(r *Request, guarded *Guarded) (*Answer, error) {
	own := *r
	own.TLS = r.IsTLS()
	j := &journey{Walker: w, request: &own, answer: &Answer{Flags: "-"}, metadata: metadata{}, guarded: guarded}
	resource, err := w.listenerOf(r.Listener)
	if err != nil {
		return nil, err
	}
	j.at, j.listener = resource.At(), resource.Message.(*listenerv3.Listener)
	j.answer.Listener = resource.Name
	if err := errors.Join(j.check(), j.accept()); err != nil {
		return nil, err
	}
	for _, step := range []func() bool{j.connect, j.decode, j.manage, j.choose, j.filter, j.route} {
		if !step() {
			break
		}
	}
	if guarded != nil {
		j.guardsSeen()
	}
	j.answer.At.Listener = j.at
	j.finish()
	return j.answer, nil
}

// finish notes the headers that the configuration changed.
func (j *journey) finish() {
	a := j.answer
	j.finalizeReply()
	if j.manager != nil && a.Cluster == nil && a.Status != nil && len(a.Weighted) == 0 {
		j.mapReply()
	}
	if j.decoded && a.Cluster == nil && a.Status != nil && len(a.Weighted) == 0 && isGRPC(j.sent) && !j.pathless {
		*a.Status, a.Body = 200, nil // and the status is in grpc-status (Utility::prepareLocalReply)
		j.response.remove(contentType)
	}
	if j.bodiless() {
		j.response.remove(contentType)
	}
	if j.delayed {
		a.Flags = strings.TrimSuffix("DI,"+a.Flags, ",-")
	}
	if j.sent != nil && (a.Cluster != nil || a.Unknown[unknownCluster] != "") {
		a.Added, a.Removed = j.headers.changes(j.sent)
	}
	j.mutateAnswers()
	if j.manager != nil && a.Status != nil {
		j.pass(&j.response)
	}
	a.ResponseAdded, a.ResponseRemoved = j.response.changes(&headers{})
}

// finalizeReply adds the response headers of the route to what a filter answers (finalizeHeaders in source/common/http/filter_manager.cc).
func (j *journey) finalizeReply() {
	a := j.answer
	if j.level == nil || j.level.Route.GetRedirect() != nil || j.level.Route.GetDirectResponse() != nil || a.Cluster != nil || a.Status == nil || a.Details == viaUpstream {
		return
	}
	if j.level.Cluster == nil {
		j.doubtResponse(j.level.Route.GetRoute())
	}
	own := j.response.list
	j.response.list = nil
	j.mutateResponse()
	for _, h := range own { // a filter overwrites what the route says
		j.response.remove(h[0])
	}
	j.response.list = append(j.response.list, own...)
}

// Versions are the values of Request.HTTP.
var Versions = []string{"1.0", "1.1", "2"}

// check rejects requests that no client can send.
func (j *journey) check() error {
	r := j.request
	switch {
	case r.HTTP != "" && !slices.Contains(Versions, r.HTTP):
		return fmt.Errorf("http %q is not 1.0, 1.1 or 2", r.HTTP)
	case r.Path == nil && r.Method != "CONNECT":
		return fmt.Errorf("a request other than CONNECT needs a path")
	case r.Method == "":
		return fmt.Errorf("a request needs a method")
	case r.BodyBytes < 0 || r.Nth < 0:
		return fmt.Errorf("body_bytes and nth cannot be negative")
	}
	return nil
}

// manager is an HTTP connection manager with what it uses.
type manager struct {
	message *hcmv3.HttpConnectionManager
	at      graph.At
	filters []envoy.HTTPFilter
	edges   []*graph.Edge // see Walker
	routes  envoy.Routes
}
