package plan

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/graph"
)

// unused is the method of the routes that no RPC takes.
const unused = "/xdslint.plan.Unused/Unused"

// channels orders what the channels of gRPC clients need. Before RPCs move to clusters that the routes of their channel did not name, the old routes
// get one to these clusters that no RPC takes: the client then has them, with endpoints, when it gets the new routes. A cluster is removed
// when clients no longer ask for it: RPCs that have begun no longer need it then.
func (p *planner) channels() {
	moves := grpc.Client{}.Moves(p.changes.Old, p.changes.New)
	for len(moves) > 0 {
		from := moves[0].From
		same := func(m grpc.Move) bool { return m.From == from }
		p.prepare(from, slices.DeleteFunc(slices.Clone(moves), func(m grpc.Move) bool { return !same(m) }))
		moves = slices.DeleteFunc(moves, same)
	}
	for _, e := range p.changes.Old.References() {
		user, target := p.of(e.From), p.of(e.To)
		if user != nil && !user.removes && target != nil && target.removes && target.Kind == graph.Cluster {
			wait := Wait{For: Unsubscribe, Kind: graph.Cluster, Names: []string{target.Name}, Timeout: p.opts.AckTimeout}
			p.pending = append(p.pending, pending{wait: wait, first: user, needs: []*step{target}})
		}
	}
}

// prepare adds the step that gives old routes to new clusters, which no RPC takes.
func (p *planner) prepare(from *graph.Resource, moves []grpc.Move) {
	own := p.of(from)
	if own == nil { // the listener leaves routes that do not change
		return
	}
	clusters := map[int][]string{}
	var targets []int
	for _, m := range moves {
		if !slices.Contains(clusters[m.Host], m.Cluster) {
			clusters[m.Host] = append(clusters[m.Host], m.Cluster)
			targets = append(targets, p.names.number(Resource{graph.Cluster, m.Cluster}))
		}
	}
	message, field := withRoutes(from.Message, clusters)
	if message == nil {
		return
	}
	s := p.interim(own, message, Touch{
		Field: field, Value: "an extra route to " + list(namesOf(moves)) + ", which no RPC takes", Why: "clients have the new clusters before RPCs go there",
	})
	targets = append(targets, p.refers(from)...)
	slices.Sort(targets)
	p.targets[s.like] = slices.Compact(targets)
	for _, m := range moves {
		at := Resource{graph.Cluster, m.Cluster}
		p.arriving[s] = p.below(at, p.arriving[s])
		if target := p.byName[at]; target != nil {
			p.after(target, s, notBefore)
		}
		p.after(s, p.byName[Resource{graph.Listener, m.Listener}], nextPhase)
	}
}

// arrivals adds to the waits of a phase those for the clusters that its steps make clients ask for, and for their endpoints.
func (p *planner) arrivals(steps []*step, waits []Wait) []Wait {
	for _, kind := range []graph.Kind{graph.Cluster, graph.ClusterLoadAssignment} {
		var names []string
		for _, s := range steps {
			for _, at := range p.arriving[s] {
				if at.Kind == kind {
					names = append(names, at.Name)
				}
			}
		}
		if len(names) == 0 {
			continue
		}
		if i := slices.IndexFunc(waits, func(w Wait) bool { return w.For == ACK && w.Kind == kind }); i >= 0 {
			names = append(names, waits[i].Names...)
			waits = slices.Delete(waits, i, i+1)
		}
		slices.Sort(names)
		waits = append(waits, Wait{For: ACK, Kind: kind, Names: slices.Compact(names), Timeout: p.opts.AckTimeout})
	}
	return waits
}

// below returns a cluster, and what is below it.
func (p *planner) below(at Resource, seen []Resource) []Resource {
	if slices.Contains(seen, at) {
		return seen
	}
	seen = append(seen, at)
	for _, e := range p.changes.New.From(p.changes.New.Pushed(at.Kind, at.Name)) {
		if needed(e) && (e.Kind == graph.Cluster || e.Kind == graph.ClusterLoadAssignment) {
			seen = p.below(Resource{e.To.Kind, e.To.Name}, seen)
		}
	}
	return seen
}

func namesOf(moves []grpc.Move) (all []string) {
	for _, m := range moves {
		all = append(all, m.Cluster)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// withRoutes returns a route configuration, or the listener that has it, with one more route in some virtual hosts, and where the first one is.
func withRoutes(m proto.Message, clusters map[int][]string) (proto.Message, string) {
	switch m := m.(type) {
	case *routev3.RouteConfiguration:
		made := proto.CloneOf(m)
		return made, addRoutes(made, clusters)
	case *listenerv3.Listener:
		made, hcm := proto.CloneOf(m), &hcmv3.HttpConnectionManager{}
		if err := made.GetApiListener().GetApiListener().UnmarshalTo(hcm); err != nil {
			return nil, ""
		}
		field := addRoutes(hcm.GetRouteConfig(), clusters)
		packed, err := anypb.New(hcm)
		if err != nil {
			return nil, ""
		}
		made.ApiListener.ApiListener = packed
		return made, "api_listener.api_listener.route_config." + field
	}
	return nil, ""
}

func addRoutes(table *routev3.RouteConfiguration, clusters map[int][]string) (first string) {
	for i, host := range table.GetVirtualHosts() {
		if len(clusters[i]) == 0 {
			continue
		}
		if first == "" {
			first = fmt.Sprintf("virtual_hosts[%d].routes[%d]", i, len(host.GetRoutes()))
		}
		slices.Sort(clusters[i])
		for _, cluster := range clusters[i] {
			host.Routes = append(host.Routes, &routev3.Route{
				Match:  &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Path{Path: unused}},
				Action: &routev3.Route_Route{Route: &routev3.RouteAction{ClusterSpecifier: &routev3.RouteAction_Cluster{Cluster: cluster}}},
			})
		}
	}
	return first
}
