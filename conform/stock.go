package conform

import (
	"encoding/json"
	"fmt"
	"slices"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/graph"
)

// stock is what clients get: any name of the kinds that it has, and a few names for those that ask for all. It harms
// nothing: listeners are not bound to their port, and no endpoint answers.
type stock struct {
	revision map[string]int // by type
	clusters []string       // that exist for those that ask for all, and to which routes refer
	empty    map[string]bool
}

// The types that are served.
var (
	clusterType  = graph.TypeURL(graph.Cluster)
	endpointType = graph.TypeURL(graph.ClusterLoadAssignment)
	listenerType = graph.TypeURL(graph.Listener)
	routeType    = graph.TypeURL(graph.RouteConfiguration)
	servedTypes  = []string{clusterType, endpointType, listenerType, routeType}
)

func serves(typeURL string) bool { return slices.Contains(servedTypes, typeURL) }

// complete reports whether a response of SotW has all resources of a type, so that what it lacks is deleted.
func complete(typeURL string) bool { return typeURL == clusterType || typeURL == listenerType }

// served is the name of the listener and its routes, and the beginning of the names of clusters.
const served = "xdslint-conform"

func newStock() *stock {
	s := &stock{revision: map[string]int{}, clusters: []string{served + "-a", served + "-b"}, empty: map[string]bool{}}
	for _, url := range servedTypes {
		s.revision[url] = 1
	}
	return s
}

// listed returns the names that a client gets that asks for all.
func (s *stock) listed(typeURL string) []string {
	if typeURL == clusterType || typeURL == endpointType {
		return s.clusters
	}
	return []string{served}
}

// make returns a resource; nil: it does not exist. Over an aggregated stream, resources refer to others. Over separate
// ones, they cannot: the server does not know what it is called in the client's bootstrap.
func (s *stock) make(w *watch, name string) *anypb.Any {
	if s.empty[w.typeURL] {
		return nil
	}
	n, aggregated := s.revision[w.typeURL], w.TypeURL == ""
	switch w.typeURL {
	case clusterType:
		source := `"type": "EDS", "eds_cluster_config": {"eds_config": {"ads": {}, "resource_api_version": "V3"}}`
		if !aggregated {
			source = fmt.Sprintf(`"type": "STATIC", "load_assignment": %s`, endpoints(name, n))
		}
		return parsed(&clusterv3.Cluster{}, fmt.Sprintf(`{"name": %s, "connect_timeout": "%d.5s", %s}`, quoted(name), 1+n%100, source))
	case endpointType:
		return parsed(&endpointv3.ClusterLoadAssignment{}, endpoints(name, n))
	case listenerType:
		manager := s.manager(n, aggregated)
		if !w.wildcard { // gRPC
			return parsed(&listenerv3.Listener{}, fmt.Sprintf(`{"name": %s, "api_listener": {"api_listener": %s}}`, quoted(name), manager))
		}
		return parsed(&listenerv3.Listener{}, fmt.Sprintf(`{"name": %s, "bind_to_port": false, "address": {"socket_address": {"address": "127.0.0.1", "port_value": 0}},
			"filter_chains": [{"filters": [{"name": "http", "typed_config": %s}]}]}`, quoted(name), manager))
	case routeType:
		return parsed(&routev3.RouteConfiguration{}, s.routes(name, n))
	}
	return nil
}

func endpoints(name string, n int) string {
	return fmt.Sprintf(`{"cluster_name": %s, "endpoints": [{"locality": {"zone": "xdslint"}, "load_balancing_weight": 1, "lb_endpoints": [
		{"load_balancing_weight": %d, "endpoint": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": 1}}}}]}]}`, quoted(name), n)
}

func (s *stock) manager(n int, aggregated bool) string {
	routes := fmt.Sprintf(`"rds": {"route_config_name": %q, "config_source": {"ads": {}, "resource_api_version": "V3"}}`, served)
	if !aggregated {
		routes = `"route_config": ` + s.routes(served, n)
	}
	return fmt.Sprintf(`{"@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
		"stat_prefix": "%s-%d", %s,
		"http_filters": [{"name": "router", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}]}`, served, n, routes)
}

func (s *stock) routes(name string, n int) string {
	weighted := ""
	for i, cluster := range s.clusters {
		if i > 0 {
			weighted += ", "
		}
		weighted += fmt.Sprintf(`{"name": %q, "weight": 1}`, cluster)
	}
	return fmt.Sprintf(`{"name": %s, "validate_clusters": false, "virtual_hosts": [{"name": "all", "domains": ["*"], "routes": [
		{"match": {"prefix": ""}, "route": {"timeout": "%ds", "weighted_clusters": {"clusters": [%s]}}}]}]}`, quoted(name), n, weighted)
}

// quoted returns a name in JSON.
func quoted(name string) string {
	text, err := json.Marshal(name)
	if err != nil {
		panic(err) // a string has no errors
	}
	return string(text)
}

func parsed(m proto.Message, text string) *anypb.Any {
	if err := protojson.Unmarshal([]byte(text), m); err != nil {
		panic(err) // it is made here
	}
	return packed(m)
}

func packed(m proto.Message) *anypb.Any {
	body, err := anypb.New(m)
	if err != nil {
		panic(err) // it is made here
	}
	return body
}
