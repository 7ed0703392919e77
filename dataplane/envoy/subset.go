package envoy

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/graph"
)

// Subset is what the requests of a reference to a cluster select its endpoints by.
type Subset struct {
	Edge     *graph.Edge
	criteria map[string]*structpb.Value
}

// SubsetMoves are the references that a push moves from one subset of endpoints to another while it changes the endpoints.
type SubsetMoves struct {
	Leave []Subset // of the old snapshot: the new endpoints do not have this subset
	Come  []Subset // of the new snapshot: the old endpoints do not have this subset
}

// SubsetMovesOf returns the moves that the change of a cluster load assignment affects.
func SubsetMovesOf(before, after graph.View, change *graph.Change) (m SubsetMoves) {
	had, _ := change.Old.Message.(*endpointv3.ClusterLoadAssignment)
	has, _ := change.New.Message.(*endpointv3.ClusterLoadAssignment)
	old, next := subsets(before, change.Old), subsets(after, change.New)
	for _, s := range old {
		if s.In(had) && !s.In(has) && !s.among(next) {
			m.Leave = append(m.Leave, s)
		}
	}
	for _, s := range next {
		if s.In(has) && !s.In(had) && !s.among(old) {
			m.Come = append(m.Come, s)
		}
	}
	return m
}

// subsets returns what selects endpoints of a cluster load assignment and fails without any.
func subsets(s graph.View, cla *graph.Resource) []Subset {
	var all []Subset
	for _, users := range s.To(cla) {
		c, _ := users.From.Message.(*clusterv3.Cluster)
		if c.GetLbSubsetConfig() == nil || c.GetLbSubsetConfig().GetFallbackPolicy() != clusterv3.Cluster_LbSubsetConfig_NO_FALLBACK {
			continue
		}
		for _, e := range s.To(users.From) {
			if criteria := criteriaOf(e); len(criteria) > 0 && s.Serves(e.From) {
				all = append(all, Subset{e, criteria})
			}
		}
	}
	return all
}

// criteriaOf returns the metadata_match of a route, over which that of a weighted cluster prevails.
func criteriaOf(e *graph.Edge) map[string]*structpb.Value {
	all := map[string]*structpb.Value{}
	action, _ := graph.Around[*routev3.RouteAction](e.Place)
	weighted, _ := graph.Around[*routev3.WeightedCluster_ClusterWeight](e.Place)
	for _, m := range []*corev3.Metadata{action.GetMetadataMatch(), weighted.GetMetadataMatch()} {
		for key, value := range balancingMetadata(m) {
			all[key] = value
		}
	}
	return all
}

func balancingMetadata(m *corev3.Metadata) map[string]*structpb.Value {
	return m.GetFilterMetadata()["envoy.lb"].GetFields()
}

// In reports whether endpoints have the subset.
func (s Subset) In(cla *endpointv3.ClusterLoadAssignment) bool {
	for _, locality := range cla.GetEndpoints() {
		for _, e := range locality.GetLbEndpoints() {
			if s.selects(balancingMetadata(e.GetMetadata())) {
				return true
			}
		}
	}
	return false
}

func (s Subset) selects(metadata map[string]*structpb.Value) bool {
	for key, value := range s.criteria {
		if !proto.Equal(metadata[key], value) {
			return false
		}
	}
	return true
}

// among reports whether the same resource selects the same subset of the same cluster.
func (s Subset) among(others []Subset) bool {
	for _, o := range others {
		if o.Edge.From.Name == s.Edge.From.Name && o.Edge.From.Kind == s.Edge.From.Kind && o.Edge.Target == s.Edge.Target &&
			len(o.criteria) == len(s.criteria) && s.selects(o.criteria) {
			return true
		}
	}
	return false
}
