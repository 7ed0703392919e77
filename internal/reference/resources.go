package reference

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// Target is a control plane under test.
type Target interface {
	Set(name string, m proto.Message)
	Delete(typeURL, name string)
	Publish() // what was changed before
}

// makers make resources that refer to each other. The number makes them different.
var makers = map[string]struct {
	typeURL string
	empty   func() proto.Message
	text    string // in JSON, with the name and the number
}{
	"cluster": {Clusters, func() proto.Message { return &clusterv3.Cluster{} }, `{"name": %q, "type": "EDS", "connect_timeout": "%ds",
		"eds_cluster_config": {"eds_config": {"ads": {}, "resource_api_version": "V3"}}}`},
	"cluster_load_assignment": {Endpoints, func() proto.Message { return &endpointv3.ClusterLoadAssignment{} }, `{"cluster_name": %q, "endpoints": [{"lb_endpoints": [
		{"endpoint": {"address": {"socket_address": {"address": "192.0.2.1", "port_value": 1%03d}}}}]}]}`},
	"listener": {Listeners, func() proto.Message { return &listenerv3.Listener{} }, `{"name": %q, "address": {"socket_address": {"address": "192.0.2.1", "port_value": 1%03d}},
		"filter_chains": [{"filters": [{"name": "http", "typed_config": {
			"@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
			"stat_prefix": "web", "rds": {"route_config_name": %[1]q, "config_source": {"ads": {}, "resource_api_version": "V3"}},
			"http_filters": [{"name": "router", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}]}}]}]}`},
	"route_configuration": {Routes, func() proto.Message { return &routev3.RouteConfiguration{} }, `{"name": %q, "virtual_hosts": [{"name": "web", "domains": ["%d.example.com"],
		"routes": [{"match": {"prefix": ""}, "route": {"cluster": "shop"}}]}]}`},
}

// Make returns a resource of a kind.
func Make(kind, name string, n int) proto.Message {
	m := makers[kind].empty()
	if err := protojson.Unmarshal(fmt.Appendf(nil, makers[kind].text, name, n), m); err != nil {
		panic(err) // not in a test
	}
	return m
}

// Fill adds three clusters with their endpoints, and two listeners with their routes.
func Fill(t Target) {
	for _, name := range []string{"shop", "cart", "books"} {
		t.Set(name, Make("cluster", name, 1))
		t.Set(name, Make("cluster_load_assignment", name, 1))
	}
	for _, name := range []string{"web", "internal"} {
		t.Set(name, Make("listener", name, 1))
		t.Set(name, Make("route_configuration", name, 1))
	}
	t.Publish()
}

// Changer returns a function that changes a target as package conform asks for. What it adds without a name is one
// resource of each kind.
func Changer(t Target) func(ctx context.Context, action, what string) error {
	var count atomic.Int32
	return func(_ context.Context, action, what string) error {
		n := int(count.Add(1)) + 1
		kind, name, _ := strings.Cut(what, "/")
		switch action {
		case "delete":
			t.Delete(makers[kind].typeURL, name)
		default:
			for k := range makers {
				if what == "" {
					t.Set(fmt.Sprintf("added-%d", n), Make(k, fmt.Sprintf("added-%d", n), n))
				} else if k == kind {
					t.Set(name, Make(k, name, n))
				}
			}
		}
		t.Publish()
		return nil
	}
}

// Publish implements Target. Changes of a store are served at once.
func (*Store) Publish() {}
