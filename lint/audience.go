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

// meant reports whether a resource is meant for the target, which must be one of its file. In a fleet of Envoys and gRPC, a listener with an
// api_listener, or with the name of one of gRPC's servers, is for gRPC, and any other for Envoy. What they refer to is for the same. In a
// recording, the node says what it is.
func (p *Pass) meant(r *graph.Resource) bool {
	if r == nil || len(p.Fleet) == 0 {
		return true
	}
	if !slices.Contains(p.targetsOf(r), p.Target) {
		return false
	}
	a := audience{p, p.Snapshot, map[*graph.Resource]bool{}}
	return p.Snapshot == nil || a.gets(r, p.Target.Family())
}

// targetsOf returns the targets of the file of a resource.
func (p *Pass) targetsOf(r *graph.Resource) []dataplane.Target {
	if own := p.FileTargets[r.File.Name]; len(own) > 0 {
		return own
	}
	return p.Fleet
}

// audience finds out which data planes get a resource.
type audience struct {
	pass     *Pass
	snapshot graph.View
	seen     map[*graph.Resource]bool
}

func (a audience) gets(r *graph.Resource, family dataplane.Family) bool {
	if a.seen[r] {
		return false
	}
	a.seen[r] = true
	targets := a.pass.targetsOf(r)
	in := slices.ContainsFunc(targets, func(t dataplane.Target) bool { return t.Family() == family })
	mixed := slices.ContainsFunc(targets, func(t dataplane.Target) bool { return t.Family() != family })
	switch {
	case !in || !mixed:
		return in
	case r.Kind == graph.File:
		return true
	case strings.HasPrefix(a.snapshot.Agent(), "gRPC"):
		return family == dataplane.GRPC
	case a.snapshot.Agent() == "envoy":
		return family == dataplane.Envoy
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
		template := grpc.Client{Target: a.pass.Target}.ReadBootstrap(m).Servers
		if before, after, ok := strings.Cut(template, "%s"); ok && strings.HasPrefix(r.Name, before) && strings.HasSuffix(r.Name, after) {
			return true
		}
	}
	return false
}
