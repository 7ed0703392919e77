package plan

import (
	"slices"

	"google.golang.org/protobuf/proto"

	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
)

// subsets keeps the endpoints that requests select by metadata: those of the next subset come before requests select it, and those of the last one
// stay until no request does.
func (p *planner) subsets() {
	for _, c := range p.changes.Of(graph.ClusterLoadAssignment) {
		if !c.Changed() {
			continue
		}
		moves := envoy.SubsetMovesOf(p.changes.Old, p.changes.New, c)
		first, last := p.byName[Resource{c.Kind, c.Name}], p.byName[Resource{c.Kind, c.Name}]
		if len(moves.Leave) > 0 && len(moves.Come) > 0 {
			both := joined(c)
			if !all(moves.Leave, both) || !all(moves.Come, both) {
				continue // no endpoints have both subsets
			}
			first = p.interim(last, both, Touch{Field: "endpoints", Value: "also those of the old snapshot", Why: "requests select them until they have moved"})
		}
		for _, s := range moves.Come {
			p.prefer(contentFirst, first, p.of(s.Edge.From), nextPhase)
		}
		for _, s := range moves.Leave {
			p.prefer(inUseStays, p.of(s.Edge.From), last, nextPhase)
			p.lost[last], last.part = true, late
		}
	}
}

func all(subsets []envoy.Subset, in *endpointv3.ClusterLoadAssignment) bool {
	return !slices.ContainsFunc(subsets, func(s envoy.Subset) bool { return !s.In(in) })
}

// joined returns the new endpoints together with the old ones, without those of the same address.
func joined(c *graph.Change) *endpointv3.ClusterLoadAssignment {
	before, _ := c.Old.Message.(*endpointv3.ClusterLoadAssignment)
	after, _ := c.New.Message.(*endpointv3.ClusterLoadAssignment)
	both, taken := proto.CloneOf(after), envoy.EndpointAddresses(after)
	for _, locality := range before.GetEndpoints() {
		kept := proto.CloneOf(locality)
		kept.LbEndpoints = slices.DeleteFunc(kept.GetLbEndpoints(), func(e *endpointv3.LbEndpoint) bool { return taken[envoy.AddressOf(e)] })
		i := slices.IndexFunc(both.GetEndpoints(), func(l *endpointv3.LocalityLbEndpoints) bool {
			return l.GetPriority() == kept.GetPriority() && proto.Equal(l.GetLocality(), kept.GetLocality())
		})
		switch {
		case len(kept.GetLbEndpoints()) == 0:
		case i < 0:
			both.Endpoints = append(both.Endpoints, kept)
		default:
			both.Endpoints[i].LbEndpoints = append(both.Endpoints[i].LbEndpoints, kept.GetLbEndpoints()...)
		}
	}
	return both
}
