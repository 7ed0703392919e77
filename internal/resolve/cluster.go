package resolve

import (
	"fmt"
	"net"
	"slices"
	"strconv"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	aggregatev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/clusters/aggregate/v3"

	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/graph"
)

// leaf is a cluster with endpoints of its own.
type leaf struct {
	cluster *clusterv3.Cluster
	load    *endpointv3.ClusterLoadAssignment // nil: there is none
	why     string                            // there is none
}

// deepest is how deep aggregates may be nested (populateClusterConfigLocked).
const deepest = 16

// tree is what a client knows of the clusters below those that the routes of a virtual host name (populateClusterConfigLocked).
type tree struct {
	leaves []leaf // in the order of their priority
	lost   *lost  // why RPCs fail
}

// grow returns the tree of a cluster, and puts those of all clusters below it into trees. A member that does not exist fails the whole aggregate. A
// cluster that is in trees already is left out.
func (w *walk) grow(name string, depth int, trees map[string]tree) (t tree) {
	if depth >= deepest {
		return tree{lost: &lost{fmt.Sprintf("aggregate cluster graph exceeds max depth (%d)", deepest), ""}}
	}
	if _, seen := trees[name]; seen {
		return t
	}
	trees[name] = t
	defer func() { trees[name] = t }()
	cluster, at, missing := find[*clusterv3.Cluster](w, graph.Cluster, name)
	switch {
	case missing != nil:
		return tree{lost: missing}
	case cluster.GetClusterType() == nil:
		return tree{leaves: []leaf{w.leafOf(cluster)}}
	}
	members, _ := at.Field("cluster_type", "typed_config").Content(cluster.GetClusterType().GetTypedConfig()).(*aggregatev3.ClusterConfig)
	for _, member := range members.GetClusters() {
		below := w.grow(member, depth+1, trees)
		if below.lost != nil && (depth+1 >= deepest || below.lost != noLeaves) {
			return below
		}
		t.leaves = append(t.leaves, below.leaves...)
	}
	if len(t.leaves) == 0 {
		t.lost = noLeaves
	}
	return t
}

// noLeaves fails RPCs to an aggregate, but not those to an aggregate of it.
var noLeaves = &lost{"aggregate cluster graph has no leaf clusters", ""}

// treeOf returns the tree of a cluster. grpc-go makes a tree for each cluster of the routes. In which order it joins them is chance, so that a
// cluster that is in several has one of several trees.
func (w *walk) treeOf(name string) (t tree, chance string) {
	t = w.grow(name, 0, map[string]tree{})
	for _, root := range w.roots() {
		trees := map[string]tree{}
		w.grow(root, 0, trees)
		if other, ok := trees[name]; ok && !t.same(other) {
			return t, root
		}
	}
	return t, ""
}

// same reports whether two trees of a cluster have the same leaves.
func (t tree) same(other tree) bool {
	return (t.lost == nil) == (other.lost == nil) && slices.EqualFunc(t.leaves, other.leaves, func(a, b leaf) bool { return a.cluster == b.cluster })
}

func (w *walk) leafOf(cluster *clusterv3.Cluster) leaf {
	if cluster.GetType() == clusterv3.Cluster_LOGICAL_DNS {
		return leaf{cluster: cluster, load: cluster.GetLoadAssignment()}
	}
	name := cluster.GetEdsClusterConfig().GetServiceName()
	if name == "" {
		name = cluster.GetName()
	}
	load, _, missing := find[*endpointv3.ClusterLoadAssignment](w, graph.ClusterLoadAssignment, name)
	if missing != nil {
		return leaf{cluster: cluster, why: missing.why}
	}
	return leaf{cluster: cluster, load: load}
}

// reach follows a way from its cluster to endpoints.
func (w *walk) reach(way *Way) {
	t, chance := w.treeOf(way.Cluster)
	if chance != "" {
		w.answer.Unknown = map[string]string{"ways": fmt.Sprintf("the cluster %q is also below %q, with other members: grpc-go takes one of the two by chance", way.Cluster, chance)}
	}
	if t.lost != nil {
		way.Why = t.lost.why
		w.add(way, unavailable, t.lost.message)
		return
	}
	root, at, _ := find[*clusterv3.Cluster](w, graph.Cluster, way.Cluster)
	policy := w.client.PolicyOf(at, root)
	way.Policy = policy.Name
	aggregate := root.GetClusterType() != nil
	taker := t.leaves[len(t.leaves)-1] // without usable endpoints, the last priority answers
	for _, l := range t.leaves {
		for _, priority := range priorities(l, aggregate, policy.ByLocality) {
			switch {
			case way.Endpoints == nil:
				way.Endpoints, taker = priority, l
			default:
				way.Standby = append(way.Standby, priority...)
			}
		}
	}
	without := noEndpoints(policy)
	if way.Why = taker.why; way.Why == "" && way.Endpoints == nil {
		way.Why = "no endpoint of a locality with a weight is healthy and has a port"
		without = "" // it may be that of a failed connection
	}
	w.pick(way, taker, without)
}

// noEndpoints is what a policy says when it has no endpoint.
func noEndpoints(p grpc.Policy) string {
	switch {
	case p.ByLocality:
		return "no targets to pick from"
	case p.Name == "ring_hash" || p.Name == "pick_first":
		return "produced zero addresses"
	}
	return "no children to pick from"
}

// pick ends a way at the endpoints of a leaf, at what it drops, or with the message of the policy without endpoints (clusterimpl.picker.Pick).
func (w *walk) pick(way *Way, l leaf, without string) {
	share := dropped(l)
	if way.Endpoints == nil {
		share = 0 // nothing is dropped while no endpoint is ready
	}
	drop := *way
	drop.Endpoints, drop.Standby, drop.Share = nil, nil, way.Share*share
	way.Share *= 1 - share
	switch limit, limited := maxRequests(l.cluster); {
	case share == 1:
	case limited && limit == 0:
		way.Endpoints, way.Standby, way.Why = nil, nil, ""
		w.add(way, unavailable, "max requests 0 exceeded on service")
	case way.Endpoints != nil:
		w.add(way, answered, "")
	default:
		w.add(way, unavailable, without)
	}
	if share > 0 {
		w.add(&drop, unavailable, "RPC is dropped")
	}
}

// dropped returns the share of the RPCs that a load assignment drops. Each category drops its share of what those before it leave.
func dropped(l leaf) float64 {
	kept := 1.0
	if l.cluster.GetType() != clusterv3.Cluster_EDS {
		return 0
	}
	for _, drop := range l.load.GetPolicy().GetDropOverloads() {
		kept *= 1 - shareOf(drop.GetDropPercentage())
	}
	return 1 - kept
}

// maxRequests returns the limit of a cluster on concurrent RPCs (circuitBreakersFromCluster, gRFC A32).
func maxRequests(cluster *clusterv3.Cluster) (uint32, bool) {
	for _, t := range cluster.GetCircuitBreakers().GetThresholds() {
		if t.GetPriority() == corev3.RoutingPriority_DEFAULT {
			return t.GetMaxRequests().GetValue(), t.GetMaxRequests() != nil
		}
	}
	return 0, false
}

// priorities returns the localities of a leaf with endpoints that can get RPCs, by priority (groupLocalitiesByPriority).
func priorities(l leaf, aggregate, byLocality bool) (all [][]Locality) {
	dns := l.cluster.GetType() == clusterv3.Cluster_LOGICAL_DNS
	byPriority, total := map[uint32][]Locality{}, map[uint32]float64{}
	for _, g := range l.load.GetEndpoints() {
		weight, addresses := float64(g.GetLoadBalancingWeight().GetValue()), addressesOf(g, dns)
		if len(addresses) == 0 || weight == 0 && !dns {
			continue
		}
		locality := Locality{Priority: g.GetPriority(), Locality: nameOf(g.GetLocality()), Share: weight, Addresses: addresses}
		if dns {
			locality = Locality{Share: 1, Addresses: addresses}
		}
		if aggregate {
			locality.Cluster = l.cluster.GetName()
		}
		byPriority[locality.Priority] = append(byPriority[locality.Priority], locality)
		total[locality.Priority] += locality.Share
	}
	for p := range uint32(len(l.load.GetEndpoints())) { // they have no gaps, unless all endpoints of one are left out
		for i := range byPriority[p] {
			byPriority[p][i].Share /= total[p]
			if !byLocality {
				byPriority[p][i].Share = 0
			}
		}
		if byPriority[p] != nil {
			all = append(all, byPriority[p])
		}
	}
	return all
}

// addressesOf returns the addresses of the endpoints of a locality that a client uses: those that are healthy, and that it can connect to.
func addressesOf(g *endpointv3.LocalityLbEndpoints, dns bool) (all []string) {
	for _, e := range g.GetLbEndpoints() {
		socket := e.GetEndpoint().GetAddress().GetSocketAddress()
		healthy := e.GetHealthStatus() == corev3.HealthStatus_UNKNOWN || e.GetHealthStatus() == corev3.HealthStatus_HEALTHY
		if port := socket.GetPortValue(); (healthy || dns) && port > 0 && port <= 65535 {
			all = append(all, net.JoinHostPort(socket.GetAddress(), strconv.Itoa(int(port))))
		}
	}
	return all
}

// nameOf returns a locality as region/zone/sub_zone.
func nameOf(l *corev3.Locality) string {
	text := l.GetRegion()
	for _, part := range []string{l.GetZone(), l.GetSubZone()} {
		if part != "" {
			text += "/" + part
		}
	}
	return text
}
