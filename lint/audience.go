package lint

import (
	"slices"
	"strings"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/graph"
)

// meant reports whether a resource is meant for the target. In a fleet of Envoys and gRPC, a listener with an api_listener, or with the name of one of
// gRPC's servers, is for gRPC, and any other for Envoy. What they refer to is for the same.
func (p *Pass) meant(r *graph.Resource) bool {
	mixed := slices.ContainsFunc(p.Fleet, func(t dataplane.Target) bool { return t.Family() != p.Target.Family() })
	if !mixed || r == nil || p.Snapshot == nil {
		return true
	}
	a := audience{p.Snapshot, p.Target, map[*graph.Resource]bool{}}
	return a.gets(r, p.Target.Family())
}

// audience finds out which data planes get a resource.
type audience struct {
	snapshot graph.View
	target   dataplane.Target
	seen     map[*graph.Resource]bool
}

func (a audience) gets(r *graph.Resource, family dataplane.Family) bool {
	if a.seen[r] {
		return false
	}
	a.seen[r] = true
	switch {
	case r.Kind == graph.File:
		return true
	case r.Kind == graph.GRPCBootstrap:
		return family == dataplane.GRPC
	case r.Kind == graph.Bootstrap, r.Delivery == graph.FromBootstrap:
		return family == dataplane.Envoy
	case r.Kind == graph.Listener:
		return a.forGRPC(r) == (family == dataplane.GRPC)
	}
	referrers := a.snapshot.To(r)
	if len(referrers) == 0 { // Envoy asks for all clusters, whether or not something refers to them
		return family == dataplane.Envoy || len(a.snapshot.All(graph.Listener)) == 0
	}
	return slices.ContainsFunc(referrers, func(e *graph.Edge) bool { return a.gets(e.From, family) })
}

// forGRPC reports whether a listener is one of a client or server of gRPC.
func (a audience) forGRPC(r *graph.Resource) bool {
	if l, ok := r.Message.(*listenerv3.Listener); ok && l.GetApiListener() != nil {
		return true
	}
	for _, b := range a.snapshot.All(graph.GRPCBootstrap) {
		m, ok := b.Message.(*structpb.Struct)
		if !ok {
			continue
		}
		template := grpc.Client{Target: a.target}.ReadBootstrap(m).Servers
		if before, after, ok := strings.Cut(template, "%s"); ok && strings.HasPrefix(r.Name, before) && strings.HasSuffix(r.Name, after) {
			return true
		}
	}
	return false
}
