package plan

import (
	"slices"

	"google.golang.org/protobuf/proto"

	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
)

// manners keeps the endpoints of one snapshot from a cluster that talks as in the other: where a cluster begins or ends TLS, endpoints leave before,
// and come after. The endpoints that both snapshots have can do both.
func (p *planner) manners() {
	for _, c := range p.changes.Of(graph.Cluster) {
		if !c.Changed() || envoy.MannerOf(c) == "" {
			continue
		}
		for _, own := range p.endpoints(p.changes.New, c.New) {
			if p.had(c.Old, own.change.New) && p.interims[own.Resource] == nil {
				p.around(p.of(c.New), own)
			}
		}
	}
}

// around sends the endpoints that leave before a cluster, and those that come after it.
func (p *planner) around(cluster, own *step) {
	had, has, kept := hosts(own.change.Old), hosts(own.change.New), common(own.change)
	both := envoy.CountEndpoints(kept)
	if both == 0 {
		return // no order helps
	}
	first := own
	if both < has {
		own.part = following
		p.prefer(contentFirst, cluster, own, nextPhase)
		if both == had {
			return
		}
		first = p.interim(own, kept, Touch{Field: "endpoints", Value: "those of both snapshots", Why: "the cluster changes how it talks to its endpoints"})
		first.part = shared
	}
	if both < had {
		p.prefer(inUseStays, first, cluster, nextPhase)
	}
}

// common returns the new endpoints of the addresses that the old ones have too.
func common(c *graph.Change) *endpointv3.ClusterLoadAssignment {
	before, _ := c.Old.Message.(*endpointv3.ClusterLoadAssignment)
	after, _ := c.New.Message.(*endpointv3.ClusterLoadAssignment)
	kept, had := proto.CloneOf(after), envoy.EndpointAddresses(before)
	for _, locality := range kept.GetEndpoints() {
		locality.LbEndpoints = slices.DeleteFunc(locality.GetLbEndpoints(), func(e *endpointv3.LbEndpoint) bool { return !had[envoy.AddressOf(e)] })
	}
	if kept != nil {
		kept.Endpoints = slices.DeleteFunc(kept.GetEndpoints(), func(l *endpointv3.LocalityLbEndpoints) bool {
			return len(l.GetLbEndpoints()) == 0 && l.GetLbConfig() == nil
		})
	}
	return kept
}
