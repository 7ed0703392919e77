package envoytest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
)

// The type URLs that ADS serves.
const (
	Clusters  = "type.googleapis.com/envoy.config.cluster.v3.Cluster"
	Endpoints = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment"
	Listeners = "type.googleapis.com/envoy.config.listener.v3.Listener"
	Routes    = "type.googleapis.com/envoy.config.route.v3.RouteConfiguration"
	Secrets   = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret"
)

// Resources are the resources of an ADS server, by type URL.
type Resources map[string][]*anypb.Any

// Pack groups messages by type.
func Pack(messages ...proto.Message) (Resources, error) {
	r := Resources{}
	for _, m := range messages {
		packed, err := anypb.New(m)
		if err != nil {
			return nil, err
		}
		r[packed.TypeUrl] = append(r[packed.TypeUrl], packed)
	}
	return r, nil
}

// Reply is Envoy's answer to a response with resources of one type.
type Reply struct {
	Ack    bool
	Detail string // error_detail of the NACK, on one line
}

// Result is the result of a push.
type Result struct {
	Replies map[string]Reply // by type URL; one NACK makes the type a NACK
	Unasked []string         // names of the resources that Envoy never asked for, as "type URL name"
	Crashed bool
}

// Nack joins the details of all NACKs. It is empty if Envoy accepted everything that it requested.
func (r Result) Nack() string {
	var details []string
	for _, url := range slices.Sorted(maps.Keys(r.Replies)) {
		if reply := r.Replies[url]; !reply.Ack {
			details = append(details, reply.Detail)
		}
	}
	return strings.Join(details, "\n")
}

// Push sends resources from an ADS server to a new Envoy, and returns what it answered.
//
// Every call starts a separate Envoy. That costs a fifth of a second, and an earlier case (draining listeners, warming clusters, subscriptions, a
// crash) cannot affect a later one. Start keeps one Envoy for sequences of pushes.
//
// Listeners are really bound: give them port_value 0.
func Push(ctx context.Context, r Resources) (Result, error) { return Newest.Push(ctx, r) }

// Push is Push to another version.
func (v Version) Push(ctx context.Context, r Resources) (Result, error) {
	ads, err := v.start(ctx)
	if err != nil {
		return Result{}, err
	}
	defer ads.Close()
	return ads.Push(ctx, r)
}

// ADS is an Envoy that gets clusters, listeners and all resources that they refer to from an ADS server in this process (state of the world).
type ADS struct {
	*Envoy
	server *server
}

// Start runs an Envoy, and returns when it has sent its first request to the ADS server and received an empty response. Close it.
func Start(ctx context.Context) (*ADS, error) { return Newest.start(ctx) }

func (v Version) start(ctx context.Context) (*ADS, error) {
	s, err := listen()
	if err != nil {
		return nil, err
	}
	e, err := launch(ctx, v, loopback, Streams{}.Bootstrap(fmt.Sprint("127.0.0.1:", s.port)), ".yaml", nodeFlags)
	if err != nil {
		s.close()
		return nil, err
	}
	a := &ADS{e, s}
	if err := e.wait(ctx, "connect to its ADS server", s.connected); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

// Close ends Envoy and the server.
func (a *ADS) Close() {
	a.Envoy.Close()
	a.server.close()
}

// Node returns the node in Envoy's first request, with its extensions.
func (a *ADS) Node() *corev3.Node { return a.server.firstNode() }

// Push replaces the server's resources, and waits until Envoy has answered everything and requests nothing more.
func (a *ADS) Push(ctx context.Context, r Resources) (Result, error) {
	a.server.push(r)
	err := a.wait(ctx, "settle after a push", a.server.settled)
	if err != nil && !a.Crashed() {
		return Result{}, err
	}
	result := a.server.result()
	result.Crashed = a.Crashed()
	return result, nil
}
