package requestbar

import (
	"context"
	"fmt"
	"strings"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/resolve"
	"github.com/xdslint/xdslint/internal/verdict"
	"github.com/xdslint/xdslint/internal/words"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules"
)

// readRPC reads the target of a channel and a method, with metadata on the lines below. It returns nil if nothing is typed.
func readRPC(text string) (*resolve.RPC, error) {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	if text == "" {
		return nil, nil
	}
	first, rest, _ := strings.Cut(text, "\n")
	target, method, ok := strings.Cut(strings.TrimSpace(first), " ")
	if !ok || !strings.HasPrefix(target, "xds:") {
		return nil, fmt.Errorf("write the target of a channel and a method, such as xds:///orders.shop:443 /shop.Orders/Get")
	}
	rpc := &resolve.RPC{Target: target, Method: strings.TrimSpace(method)}
	for line := range strings.Lines(rest) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		switch {
		case strings.TrimSpace(line) == "":
		case !ok || name == "":
			return nil, fmt.Errorf("%q is not metadata: write NAME: VALUE", shortened(line))
		default:
			rpc.Headers = append(rpc.Headers, resolve.Header{strings.TrimSpace(name), strings.TrimSpace(value)})
		}
	}
	return rpc, nil
}

// grpc follows an RPC through a client of gRPC.
func (a *Answer) grpc(ctx context.Context, s *graph.Snapshot, target dataplane.Target, q *Asked) error {
	rpc, err := readRPC(q.Text)
	if err != nil || rpc == nil {
		return err
	}
	a.Title = words.Printable(rpc.Method + " of " + rpc.Target)
	rejected, err := verdict.Rejected(ctx, s, lint.Config{Rules: rules.Builtin(), Target: target, TargetGiven: true})
	if err != nil {
		return err
	}
	found, err := resolve.New(s, grpc.ClientOf(s, target, nil), rejected).Walk(rpc)
	if err != nil {
		return err
	}
	a.resource(s, graph.Listener, "listener", found.Listener, "", nil)
	a.resource(s, graph.RouteConfiguration, "route configuration", found.RouteConfig, "", nil)
	a.resource(s, "", "virtual host", found.VirtualHost, "", found.Passed)
	for i, way := range found.Ways {
		if i == 0 || way.Route != found.Ways[i-1].Route {
			a.resource(s, "", "route", way.Route, "", way.Passed)
		}
		a.way(s, way)
	}
	a.Unknown = doubtsOf(found.Unknown)
	return nil
}

// resource adds a step, with the place of the resource if it is one of its own.
func (a *Answer) resource(s *graph.Snapshot, kind graph.Kind, called, name, says string, passed []resolve.Passed) {
	if name == "" && len(passed) == 0 {
		return
	}
	step := Step{Kind: called, Name: name, Says: says}
	if r := s.Pushed(kind, name); kind != "" && r != nil {
		step.Location = locationOf(r.At())
	}
	if name == "" {
		step.Says = "none of them takes the RPC"
	}
	for _, p := range passed[:min(len(passed), maxPassed)] {
		step.Passed = append(step.Passed, Candidate{words.Name(p.Name), p.Why, nil})
	}
	a.add(step)
}

// way adds what happens to a share of the RPCs.
func (a *Answer) way(s *graph.Snapshot, way *resolve.Way) {
	a.resource(s, graph.Cluster, "cluster", way.Cluster, way.Of(), nil)
	for _, l := range append(way.Endpoints, way.Standby...) {
		says := l.Where() + ": " + words.Few(l.Addresses, maxEndpoints)
		a.resource(s, graph.ClusterLoadAssignment, "endpoints", assigned(s, way, &l), says, nil)
	}
	a.Outcome = append(a.Outcome, way.Outcome()...)
	if way.Code == "OK" {
		a.Tone = passes
	} else if a.Tone == unknown {
		a.Tone = answers
	}
}

// assigned returns the name of the resource with the endpoints of a locality.
func assigned(s *graph.Snapshot, way *resolve.Way, l *resolve.Locality) string {
	name := way.Cluster
	if l.Cluster != "" {
		name = l.Cluster
	}
	if r := s.Pushed(graph.Cluster, name); r != nil {
		if c, ok := r.Message.(*clusterv3.Cluster); ok && c.GetEdsClusterConfig().GetServiceName() != "" {
			return c.GetEdsClusterConfig().GetServiceName()
		}
	}
	return name
}
