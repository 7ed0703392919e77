package envoy

import (
	"google.golang.org/protobuf/proto"

	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/graph"
)

// TakenOver reports whether requests move to a cluster that other requests leave, while all its endpoints are replaced by others: no order
// excludes that one of the two gets the endpoints of the other.
func TakenOver(before, after graph.View, cluster *graph.Resource, endpoints *graph.Change) bool {
	old := before.Find(cluster.Kind, graph.Anywhere, cluster.Name)
	if old == nil || !endpoints.Changed() || !Exchanged(endpoints.Old, endpoints.New) {
		return false
	}
	had, has := usersOf(before, old), usersOf(after, cluster)
	for user := range has {
		if had[user] {
			return false
		}
	}
	return len(had) > 0 && len(has) > 0
}

// usersOf returns what sends requests to a cluster: domains and matches of routes, and other resources.
func usersOf(s graph.View, cluster *graph.Resource) map[string]bool {
	users := map[string]bool{}
	for _, e := range s.To(cluster) {
		if !s.Serves(e.From) {
			continue
		}
		host, _ := graph.Around[*routev3.VirtualHost](e.Place)
		route, where := graph.Around[*routev3.Route](e.Place)
		if where == nil {
			users[string(e.From.Kind)+" "+e.From.Name] = true
			continue
		}
		users[routePlace(host, route)] = true
	}
	return users
}

// Exchanged reports whether both load assignments have endpoints, but no address in common.
func Exchanged(before, after *graph.Resource) bool {
	had, has := addressesIn(before), addressesIn(after)
	if len(had) == 0 || len(has) == 0 {
		return false
	}
	for address := range has {
		if had[address] {
			return false
		}
	}
	return true
}

func addressesIn(r *graph.Resource) map[string]bool {
	cla, _ := r.Message.(*endpointv3.ClusterLoadAssignment)
	all := EndpointAddresses(cla)
	delete(all, "")
	return all
}

// EndpointAddresses returns the addresses of endpoints, as AddressOf identifies them.
func EndpointAddresses(cla *endpointv3.ClusterLoadAssignment) map[string]bool {
	all := map[string]bool{}
	for _, locality := range cla.GetEndpoints() {
		for _, e := range locality.GetLbEndpoints() {
			all[AddressOf(e)] = true
		}
	}
	return all
}

// AddressOf identifies the address of an endpoint. It is empty if there is none.
func AddressOf(e *endpointv3.LbEndpoint) string {
	key, _ := (proto.MarshalOptions{Deterministic: true}).Marshal(e.GetEndpoint().GetAddress()) // what was decoded can be encoded
	return string(key)
}
