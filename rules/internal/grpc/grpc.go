// Package grpc holds the rules about gRPC's own xDS clients and servers. What these do is in dataplane/grpc; a rule is one or more of its
// functions.
package grpc

import (
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

// Rules is the group. Each rule adds itself.
var Rules = &lint.Group{
	Name: "grpc", Summary: "gRPC's own xDS clients and servers (proxyless): what they reject, ignore, and fail RPCs for", Family: dataplane.GRPC,
}

// kinds are the resources that gRPC reads.
var kinds = []graph.Kind{graph.Listener, graph.RouteConfiguration, graph.Cluster, graph.ClusterLoadAssignment}

// resources returns a check of the resources of a type.
func resources[M proto.Message](functions ...func(grpc.Client, graph.At, M) []grpc.Fault) lint.Check {
	return lint.EachResource(func(p *lint.Pass, r *graph.Resource) {
		m, ok := r.Message.(M)
		if !ok || r.Fragment || r.Delivery != graph.OverXDS {
			return
		}
		for _, f := range functions {
			report(p, func(c grpc.Client) []grpc.Fault { return f(c, r.At(), m) })
		}
	}, kinds...)
}

// managers returns a check of the HTTP connection managers of listeners.
func managers(functions ...func(grpc.Client, grpc.Manager) []grpc.Fault) lint.Check {
	return resources(func(c grpc.Client, at graph.At, l *listenerv3.Listener) (all []grpc.Fault) {
		for _, m := range c.Managers(at, l) {
			for _, f := range functions {
				all = append(all, f(c, m)...)
			}
		}
		return all
	})
}

// tables returns a check of route configurations, also of those in listeners.
func tables(functions ...func(grpc.Client, grpc.Table) []grpc.Fault) lint.Check {
	return lint.EachResource(func(p *lint.Pass, r *graph.Resource) {
		if r.Message == nil || r.Fragment || r.Delivery != graph.OverXDS {
			return
		}
		reader := sync.OnceValue(func() grpc.Reader { return readerOf(p.Snapshot, r) })
		report(p, func(c grpc.Client) (all []grpc.Fault) {
			for _, t := range c.Tables(r.At(), r.Message) {
				if t.Reader == grpc.Either {
					t.Reader = reader()
				}
				for _, f := range functions {
					all = append(all, f(c, t)...)
				}
			}
			return all
		})
	}, graph.Listener, graph.RouteConfiguration)
}

// readerOf returns who reads a route configuration from RDS, as far as listeners name it.
func readerOf(v graph.View, r *graph.Resource) grpc.Reader {
	clients, servers := false, false
	for _, e := range v.To(r) {
		l, ok := e.From.Message.(*listenerv3.Listener)
		clients, servers = clients || ok && l.GetApiListener() != nil, servers || ok && l.GetApiListener() == nil
	}
	switch {
	case clients && !servers:
		return grpc.OfClient
	case servers && !clients:
		return grpc.OfServer
	}
	return grpc.Either
}

// bootstraps returns a check of gRPC's bootstraps.
func bootstraps(f func(grpc.Client, graph.At, *structpb.Struct) []grpc.Fault) lint.Check {
	return lint.EachResource(func(p *lint.Pass, r *graph.Resource) {
		if m, ok := r.Message.(*structpb.Struct); ok {
			report(p, func(c grpc.Client) []grpc.Fault { return f(c, r.At(), m) })
		}
	}, graph.GRPCBootstrap)
}

// reader is the key of the client, which reads the bootstrap.
type reader struct{}

// report reports what a client finds, and which other implementations differ.
func report(p *lint.Pass, find func(grpc.Client) []grpc.Fault) {
	c := lint.Shared(p, reader{}, func() grpc.Client { return grpc.ClientOf(p.Snapshot, p.Target, p.GRPCEnv) })
	found := find(c)
	if len(found) == 0 {
		return
	}
	var others []opinion
	for _, other := range c.Others() {
		others = append(others, opinionOf(other, find(other)))
	}
	for i := range found {
		reportFault(p, c, &found[i], others)
	}
}

func reportFault(p *lint.Pass, c grpc.Client, f *grpc.Fault, others []opinion) {
	d := lint.Diagnostic{Message: f.Message, Help: f.Help}
	if f.Effect == grpc.Rejects {
		d.Rejected, d.Notes = true, []string{p.OnReject(f.At.Resource())}
		if c.Target.Plane == grpc.Go {
			d.Upstream = f.Upstream
		}
	} else {
		d.Severity = min(p.Rule.Severity, lint.Warning)
		d.Notes = []string{c.Target.Plane + " accepts it, and " + f.Then}
	}
	for _, o := range others {
		d.Notes = append(d.Notes, o.differs(f)...)
	}
	p.Report(f.At, d)
}

// opinion is what another implementation rejects in the same resource.
type opinion struct {
	plane   string
	rejects []grpc.Fault
}

func opinionOf(c grpc.Client, found []grpc.Fault) opinion {
	return opinion{c.Target.Plane, slices.DeleteFunc(found, func(f grpc.Fault) bool { return f.Effect != grpc.Rejects })}
}

// differs says how an opinion differs about a fault. It says nothing if the other implementation rejects something else next to it.
func (o opinion) differs(f *grpc.Fault) []string {
	same := func(other grpc.Fault) bool { return other.Message == f.Message && path(&other) == path(f) }
	near := func(other grpc.Fault) bool {
		return strings.HasPrefix(path(f), parent(&other)) || strings.HasPrefix(path(&other), parent(f))
	}
	switch {
	case f.Effect != grpc.Rejects && slices.ContainsFunc(o.rejects, same):
		return []string{o.plane + " rejects it"}
	case f.Effect == grpc.Rejects && !slices.ContainsFunc(o.rejects, near):
		return []string{o.plane + " accepts it"}
	}
	return nil
}

func path(f *grpc.Fault) string { return f.At.Path().String() }

func parent(f *grpc.Fault) string { return f.At.Path().Parent().String() }
