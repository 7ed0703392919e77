// Package resolve follows an RPC through the resources of a proxyless gRPC client, as grpc-go 1.85 does: from the target of a channel to the endpoints
// of a cluster, or to the status that the RPC gets. [Resolver.Walk] also follows one that comes to a server: from the connection to the handler.
//
// A walk has the steps of grpc-go's dependency manager and resolver: the listener by the template of the bootstrap, the virtual host by its domains,
// the route, its filters and its clusters, and the balancers below them. What chance decides has several ways, each with its share.
//
// Assumed are a client that starts, a management server that has the resources of the input and no others, and endpoints that take connections.
package resolve

import (
	"fmt"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

// Resolver follows RPCs through one snapshot.
type Resolver struct {
	view     graph.View
	client   grpc.Client
	rejected map[*graph.Resource]lint.Diagnostic
}

// New returns a Resolver for a client. Of the resources that the client rejects, rejected has the reasons.
func New(v graph.View, c grpc.Client, rejected map[*graph.Resource]lint.Diagnostic) *Resolver {
	return &Resolver{v, c, rejected}
}

// walk is the walk of one RPC.
type walk struct {
	*Resolver
	rpc      *RPC
	answer   *Answer
	host     string              // that domains are compared with
	metadata map[string][]string // that header matchers see
	manager  grpc.Manager
	table    *routev3.RouteConfiguration
	at       graph.At // the table
	routes   []*routev3.Route
}

// Walk returns what the client does with an RPC, or the server with one that does not have the target of a channel. An error means that the RPC
// itself makes no sense, or that the answer depends on what it does not say.
func (r *Resolver) Walk(rpc *RPC) (*Answer, error) {
	if !isMethod(rpc.Method) {
		return nil, fmt.Errorf("%q is not a method such as /shop.Orders/Get", rpc.Method)
	}
	if rpc.Target == "" {
		return r.serve(rpc)
	}
	authority, service, err := rpc.endpoint()
	if err != nil {
		return nil, err
	}
	w := &walk{Resolver: r, rpc: rpc, answer: &Answer{}, host: rpc.host(service), metadata: rpc.metadata()}
	name, declared := w.listenerName(authority, service)
	if !declared {
		w.fail(&lost{fmt.Sprintf("authority %q specified in dial target %q is not found in the bootstrap file", authority, rpc.Target), ""})
		return w.answer, nil
	}
	w.answer.Listener = name
	if missing := w.findTable(); missing != nil {
		w.fail(missing)
		return w.answer, nil
	}
	w.answer.RouteConfig = w.table.GetName()
	i := w.findHost()
	if i < 0 {
		w.fail(&lost{fmt.Sprintf("could not find VirtualHost for %q", w.host), ""})
		return w.answer, nil
	}
	w.answer.VirtualHost = w.table.GetVirtualHosts()[i].GetName()
	w.chooseRoute(i, w.follow, "no matched route was found")
	return w.answer, nil
}

// lost is why a client does not have a resource: in the words of grpc-go, and what is the cause.
type lost struct{ message, why string }

// typeNames are the names of types in errors of grpc-go.
var typeNames = map[graph.Kind]string{
	graph.Listener: "ListenerResource", graph.RouteConfiguration: "RouteConfigResource", graph.Cluster: "ClusterResource", graph.ClusterLoadAssignment: "EndpointsResource",
}

// find returns the message of a resource that the client gets, or why it has none (authority.handleADSResourceUpdate).
func find[M proto.Message](w *walk, kind graph.Kind, name string) (m M, at graph.At, l *lost) {
	r := w.view.Pushed(kind, name)
	if r == nil {
		return m, at, &lost{fmt.Sprintf("resource %q of type %q has been removed", name, typeNames[kind]), fmt.Sprintf("%s %q does not exist, and grpc-go reports that after 15 seconds", kind, name)}
	}
	if d, bad := w.rejected[r]; bad {
		return m, at, &lost{d.Upstream, fmt.Sprintf("grpc-go rejects the %s %q: %s", kind, name, d.Message)}
	}
	m, ok := r.Message.(M)
	if !ok {
		return m, at, &lost{"", fmt.Sprintf("the %s %q cannot be read", kind, name)}
	}
	return m, r.At(), nil
}

// findTable finds the listener and its route configuration (DependencyManager.onListenerResourceUpdate).
func (w *walk) findTable() *lost {
	l, at, missing := find[*listenerv3.Listener](w, graph.Listener, w.answer.Listener)
	if missing != nil {
		return missing
	}
	if l.GetApiListener() == nil {
		return &lost{"does not contain API listener configuration", "the listener is one of a server"}
	}
	w.manager = w.client.Managers(at, l)[0] // a listener without one is rejected
	return w.readTable()
}

// readTable finds the route configuration of the connection manager.
func (w *walk) readTable() (missing *lost) {
	if w.table = w.manager.Config.GetRouteConfig(); w.table != nil {
		w.at = w.manager.At.Field("route_config")
		return nil
	}
	w.table, w.at, missing = find[*routev3.RouteConfiguration](w, graph.RouteConfiguration, w.manager.Config.GetRds().GetRouteConfigName())
	return missing
}
