package walk_test

import (
	"context"
	"errors"
	"fmt"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/admission"
	"github.com/xdslint/xdslint/rules"
	"github.com/xdslint/xdslint/walk"
)

// Ask what Envoy does with a request before a push. A control plane passes its SnapshotCache's snapshot through gocp.Snapshot instead.
func ExampleWalk() {
	linter, err := xdslint.New(xdslint.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	snapshot, _, err := linter.Snapshot(context.Background(), xdslint.Paths("../testdata/walk/edge.yaml"))
	if err != nil {
		fmt.Println(err)
		return
	}
	host, path := "shop.example.com", "/cart/items"
	answers, err := walk.Walk(snapshot, &walk.Request{Method: "GET", Authority: &host, Path: &path, TLS: true, SNI: host})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, a := range answers {
		fmt.Println("route", a.Route, "to cluster", a.Target, "as", a.Host+a.Path)
	}
	// Output:
	// route cart to cluster cart as cart.internal/v2/cart/items
}

// A gate that pushes nothing in which a test fails: here, one that the admin pages are closed.
func ExampleRule() {
	guarded, err := walk.Rule(`
tests:
- name: no upstream sees requests to the admin pages
  given: all requests to *.example.com/admin
  expect: {cluster: null}
`)
	if err != nil {
		fmt.Println(err)
		return
	}
	gate, err := admission.New(cachev3.NewSnapshotCache(true, cachev3.IDHash{}, nil), admission.Options{
		Rules: append(rules.Builtin(), guarded), Policy: admission.Block,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, routes := range []string{
		`{"match": {"prefix": "/admin"}, "direct_response": {"status": 403}}, {"match": {"prefix": "/"}, "route": {"cluster": "shop"}}`,
		`{"match": {"path": "/admin"}, "direct_response": {"status": 403}}, {"match": {"prefix": "/"}, "route": {"cluster": "shop"}}`,
	} {
		err := gate.SetSnapshot(context.Background(), "edge-1", snapshot(routes))
		var blocked *admission.BlockedError
		if errors.As(err, &blocked) {
			for _, d := range blocked.Decision.New {
				fmt.Println("blocked:", d.Message)
			}
		} else {
			fmt.Println("pushed", err)
		}
	}
	// Output:
	// pushed <nil>
	// blocked: no upstream sees requests to the admin pages: cluster is "shop", not missing
}

// snapshot is what a control plane would serve, with some routes.
func snapshot(routes string) *cachev3.Snapshot {
	cluster, listener := &clusterv3.Cluster{}, &listenerv3.Listener{}
	if err := errors.Join(
		protojson.Unmarshal([]byte(`{"name": "shop", "type": "STATIC", "connect_timeout": "1s", "load_assignment": {"cluster_name": "shop", "endpoints": [
			{"lb_endpoints": [{"endpoint": {"address": {"socket_address": {"address": "10.0.0.1", "port_value": 80}}}}]}]}}`), cluster),
		protojson.Unmarshal([]byte(`{"name": "edge", "address": {"socket_address": {"address": "0.0.0.0", "port_value": 8080}}, "filter_chains": [{"filters": [
			{"name": "http", "typed_config": {
				"@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", "stat_prefix": "edge",
				"route_config": {"name": "shop", "virtual_hosts": [{"name": "shop", "domains": ["*.example.com"], "routes": [`+routes+`]}]},
				"http_filters": [{"name": "router", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}]}}]}]}`), listener),
	); err != nil {
		panic(err)
	}
	s, err := cachev3.NewSnapshot("v1", map[resource.Type][]types.Resource{resource.ClusterType: {cluster}, resource.ListenerType: {listener}})
	if err != nil {
		panic(err)
	}
	return s
}
