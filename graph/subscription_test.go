package graph_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
)

const subscribers = `
- "@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration
  name: web
  vhds: {config_source: {ads: {}}}
- "@type": type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment
  cluster_name: cart
  endpoints:
  - leds_cluster_locality_config: {leds_config: {path_config_source: {path: /leds.yaml}}, leds_collection_name: "xdstp:///envoy.config.endpoint.v3.LbEndpoint/cart/*"}
- "@type": type.googleapis.com/envoy.config.listener.v3.Listener
  name: scoped
  filter_chains:
  - filters:
    - name: http
      typed_config:
        "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
        stat_prefix: s
        scoped_routes: {name: tenants, scoped_rds: {scoped_rds_config_source: {ads: {}}}}
`

// TestSubscriptions: a reference without a name is recorded even if no resource of its kind exists.
func TestSubscriptions(t *testing.T) {
	input, err := load.Texts(t.Context(), map[string][]byte{"x.yaml": []byte(subscribers)}, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []graph.Subscription
	for _, s := range input.Snapshots[0].Subscriptions {
		got = append(got, graph.Subscription{Kind: s.Kind, Source: s.Source, Name: s.Name})
	}
	want := []graph.Subscription{
		{Kind: graph.VirtualHost, Source: graph.ADS, Name: "web"},
		{Kind: graph.LbEndpoint, Source: graph.PathSource("/leds.yaml"), Name: "xdstp:///envoy.config.endpoint.v3.LbEndpoint/cart/*"},
		{Kind: graph.ScopedRouteConfiguration, Source: graph.ADS},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
