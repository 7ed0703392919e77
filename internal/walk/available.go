package walk

import (
	"slices"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/graph"
)

// available reports whether a cluster has an endpoint for the request. Endpoints are healthy unless the configuration says otherwise.
func (j *journey) available(r *graph.Resource, action *routev3.RouteAction) match.Overlap {
	assigned, _ := j.assignment(r)
	if assigned == nil {
		return match.Perhaps
	}
	c := r.Message.(*clusterv3.Cluster)
	var all []*endpointv3.LbEndpoint
	healthy := false
	for _, group := range assigned.GetEndpoints() {
		all = append(all, group.GetLbEndpoints()...)
		healthy = healthy || slices.ContainsFunc(group.GetLbEndpoints(), envoy.Usable)
	}
	if len(assigned.GetPolicy().GetDropOverloads()) > 0 {
		j.answer.doubt(unknownStatus, "the cluster drops a share of the requests")
	}
	switch {
	case len(all) == 0:
		return match.No
	case !healthy && (!envoy.Panics(j.view, c) || c.GetCommonLbConfig().GetZoneAwareLbConfig().GetFailTrafficOnPanic()):
		return match.No
	case len(c.GetLbSubsetConfig().GetSubsetSelectors()) == 0:
		return match.Yes
	}
	return j.inSubset(c.GetLbSubsetConfig(), all, j.criteria(action))
}

// balancing is the namespace of the metadata by which subsets are chosen.
const balancing = "envoy.lb"

// criteria returns the metadata that the endpoints have to have: that of the weighted cluster over that of the route.
func (j *journey) criteria(action *routev3.RouteAction) map[string]*structpb.Value {
	all := map[string]*structpb.Value{}
	for _, m := range []*corev3.Metadata{action.GetMetadataMatch(), j.level.Cluster.GetMetadataMatch()} {
		for name, value := range m.GetFilterMetadata()[balancing].GetFields() {
			all[name] = value
		}
	}
	return all
}

// inSubset follows SubsetLoadBalancer::chooseHost.
func (j *journey) inSubset(c *clusterv3.Cluster_LbSubsetConfig, all []*endpointv3.LbEndpoint, wanted map[string]*structpb.Value) match.Overlap {
	if c.GetListAsAny() || c.GetMetadataFallbackPolicy() != 0 || c.GetPanicModeAny() {
		return match.Perhaps
	}
	for _, s := range c.GetSubsetSelectors() {
		if len(s.GetKeys()) != len(wanted) || slices.ContainsFunc(s.GetKeys(), func(key string) bool { return wanted[key] == nil }) {
			continue
		}
		switch {
		case hasLabels(all, wanted):
			return match.Yes
		case s.GetFallbackPolicy() != clusterv3.Cluster_LbSubsetConfig_LbSubsetSelector_NOT_DEFINED:
			return match.Perhaps
		}
	}
	switch c.GetFallbackPolicy() {
	case clusterv3.Cluster_LbSubsetConfig_ANY_ENDPOINT:
		return match.Yes
	case clusterv3.Cluster_LbSubsetConfig_DEFAULT_SUBSET:
		return certain(hasLabels(all, c.GetDefaultSubset().GetFields()))
	}
	return match.No
}

// hasLabels reports whether an endpoint has some metadata.
func hasLabels(all []*endpointv3.LbEndpoint, wanted map[string]*structpb.Value) bool {
	return slices.ContainsFunc(all, func(e *endpointv3.LbEndpoint) bool {
		own := e.GetMetadata().GetFilterMetadata()[balancing].GetFields()
		for name, value := range wanted {
			if !proto.Equal(own[name], value) {
				return false
			}
		}
		return true
	})
}
