package graph_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
)

func build(t *testing.T, text string) *graph.Snapshot {
	t.Helper()
	path := filepath.Join(t.TempDir(), "resources.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	input, err := load.Paths(t.Context(), []string{path}, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range input.Snapshots[0].Resources {
		for _, p := range r.Problems {
			t.Errorf("%s %s: %s", r.Kind, r.Name, p.Message)
		}
	}
	return input.Snapshots[0]
}

// edges lists the references of some kinds: "from: field = target -> to".
func edges(s *graph.Snapshot, kinds string) string {
	var text strings.Builder
	for _, e := range s.References() {
		if !strings.Contains(" "+kinds+" ", " "+string(e.Kind)+" ") {
			continue
		}
		to := "?"
		if e.To != nil {
			to = e.To.Name
		}
		fmt.Fprintf(&text, "%s: %s = %s -> %s\n", e.From.Name, e.Path, e.Target, to)
	}
	return text.String()
}

// TestBuild: references that consist of more than a field with a name.
func TestBuild(t *testing.T) {
	t.Parallel()
	const hcm = `"@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager, stat_prefix: s`
	const ads = `{resource_api_version: V3, ads: {}}`
	for _, c := range []struct{ name, kinds, text, want string }{
		{"an EDS cluster asks for its service, or for itself", "cluster_load_assignment", `
- {"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: a, type: EDS, eds_cluster_config: {service_name: b, eds_config: ` + ads + `}}
- {"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: c, type: EDS, eds_cluster_config: {eds_config: ` + ads + `}}
- {"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: d, type: STATIC, eds_cluster_config: {eds_config: ` + ads + `}}
- {"@type": type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment, cluster_name: c}
`, "a: eds_cluster_config.service_name = b -> ?\nc: name = c -> c\n"},
		{"a discovered filter asks for its own name", "extension_config", `
- "@type": type.googleapis.com/envoy.config.listener.v3.Listener
  name: l
  filter_chains: [{filters: [{name: h, typed_config: {` + hcm + `, http_filters: [{name: f, config_discovery: {config_source: ` + ads + `, type_urls: [t]}}]}}]}]
- {"@type": type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig, name: f, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}
`, "l: filter_chains[0].filters[0].typed_config.http_filters[0].name = f -> f\n"},
		{"a matcher names filter chains of its own listener", "filter_chain", `
- "@type": type.googleapis.com/envoy.config.listener.v3.Listener
  name: l
  filter_chain_matcher:
    on_no_match: {action: {name: c, typed_config: {"@type": type.googleapis.com/google.protobuf.StringValue, value: two}}}
    matcher_list: {matchers: [{predicate: {single_predicate: {input: {name: i, typed_config: {"@type": type.googleapis.com/envoy.extensions.matching.common_inputs.network.v3.ServerNameInput}}, value_match: {exact: x}}},
      on_match: {action: {name: c, typed_config: {"@type": type.googleapis.com/google.protobuf.StringValue, value: one}}}}]}
  filter_chains: [{name: one}]
- {"@type": type.googleapis.com/envoy.config.listener.v3.Listener, name: m, filter_chains: [{name: two}]}
`, "l: filter_chain_matcher.matcher_list.matchers[0].on_match.action.typed_config.value = one -> l\n" +
			"l: filter_chain_matcher.on_no_match.action.typed_config.value = two -> ?\n"},
		{"an internal listener is a listener that says so", "internal_listener", `
- {"@type": type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment, cluster_name: c, endpoints: [{lb_endpoints: [
    {endpoint: {address: {envoy_internal_address: {server_listener_name: in}}}}, {endpoint: {address: {envoy_internal_address: {server_listener_name: out}}}}]}]}
- {"@type": type.googleapis.com/envoy.config.listener.v3.Listener, name: in, internal_listener: {}}
- {"@type": type.googleapis.com/envoy.config.listener.v3.Listener, name: out}
`, "c: endpoints[0].lb_endpoints[0].endpoint.address.envoy_internal_address.server_listener_name = in -> in\n" +
			"c: endpoints[0].lb_endpoints[1].endpoint.address.envoy_internal_address.server_listener_name = out -> ?\n"},
		{"a filter means the DNS cache of a cluster", "dns_cache", `
- "@type": type.googleapis.com/envoy.config.listener.v3.Listener
  name: l
  filter_chains: [{filters: [{name: h, typed_config: {` + hcm + `, http_filters: [{name: f, typed_config: {
    "@type": type.googleapis.com/envoy.extensions.filters.http.dynamic_forward_proxy.v3.FilterConfig, dns_cache_config: {name: cache}}}]}}]}]
- {"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: dfp, lb_policy: CLUSTER_PROVIDED, cluster_type: {name: d, typed_config: {
    "@type": type.googleapis.com/envoy.extensions.clusters.dynamic_forward_proxy.v3.ClusterConfig, dns_cache_config: {name: cache}}}}
`, "l: filter_chains[0].filters[0].typed_config.http_filters[0].typed_config.dns_cache_config.name = cache -> dfp\n"},
		{"scopes, virtual hosts and endpoints that are subscribed to", "scoped_route_configuration virtual_host lb_endpoint route_configuration", `
- "@type": type.googleapis.com/envoy.config.listener.v3.Listener
  name: l
  filter_chains: [{filters: [{name: h, typed_config: {` + hcm + `, scoped_routes: {name: s, rds_config_source: ` + ads + `, scoped_rds: {scoped_rds_config_source: ` + ads + `},
    scope_key_builder: {fragments: [{header_value_extractor: {name: h, index: 0}}]}}}}]}]
- {"@type": type.googleapis.com/envoy.config.route.v3.ScopedRouteConfiguration, name: scope, route_configuration_name: r, key: {fragments: [{string_key: k}]}}
- {"@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration, name: r, vhds: {config_source: ` + ads + `}}
- {"@type": type.googleapis.com/envoy.config.route.v3.VirtualHost, name: r/shop, domains: [shop]}
- {"@type": type.googleapis.com/envoy.config.route.v3.VirtualHost, name: other/shop, domains: [shop]}
`, "l: filter_chains[0].filters[0].typed_config.scoped_routes.scoped_rds.scoped_rds_config_source = scope -> scope\n" +
			"scope: route_configuration_name = r -> r\nr: vhds.config_source = r/shop -> r/shop\n"},
		{"a virtual host alone cannot know its route table's plugins", "cluster_specifier_plugin", `
- {"@type": type.googleapis.com/envoy.config.route.v3.VirtualHost, name: r/shop, domains: [shop], routes: [{match: {prefix: /}, route: {cluster_specifier_plugin: p}}]}
- {"@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration, name: r, cluster_specifier_plugins: [{extension: {name: p, typed_config: {"@type": type.googleapis.com/envoy.extensions.router.cluster_specifiers.lua.v3.LuaConfig, source_code: {inline_string: x}}}}],
   virtual_hosts: [{name: v, domains: [v], routes: [{match: {prefix: /}, route: {cluster_specifier_plugin: p}}, {match: {prefix: /}, route: {cluster_specifier_plugin: q}}]}]}
`, "r: virtual_hosts[0].routes[0].route.cluster_specifier_plugin = p -> r\nr: virtual_hosts[0].routes[1].route.cluster_specifier_plugin = q -> ?\n"},
		{"providers of JWTs", "jwt_provider", `
- "@type": type.googleapis.com/envoy.config.listener.v3.Listener
  name: l
  filter_chains: [{filters: [{name: h, typed_config: {` + hcm + `, http_filters: [{name: f, typed_config: {
    "@type": type.googleapis.com/envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication, providers: {p: {issuer: i, local_jwks: {inline_string: x}}},
    rules: [{match: {prefix: /}, requires: {requires_any: {requirements: [{provider_name: p}, {provider_and_audiences: {provider_name: q}}]}}}]}}]}}]}]
`, "l: filter_chains[0].filters[0].typed_config.http_filters[0].typed_config.rules[0].requires.requires_any.requirements[0].provider_name = p -> l\n" +
			"l: filter_chains[0].filters[0].typed_config.http_filters[0].typed_config.rules[0].requires.requires_any.requirements[1].provider_and_audiences.provider_name = q -> ?\n"},
		{"filters of whoever uses the table, and of clusters", "http_filter", `
- "@type": type.googleapis.com/envoy.config.listener.v3.Listener
  name: l
  filter_chains: [{filters: [{name: h, typed_config: {` + hcm + `, rds: {route_config_name: r, config_source: ` + ads + `}, http_filters: [{name: f, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.cors.v3.Cors}}]}}]}]
- {"@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration, name: r, typed_per_filter_config: {f: {"@type": type.googleapis.com/envoy.extensions.filters.http.cors.v3.CorsPolicy},
    g: {"@type": type.googleapis.com/envoy.extensions.filters.http.cors.v3.CorsPolicy}, up: {"@type": type.googleapis.com/envoy.extensions.filters.http.cors.v3.CorsPolicy}}}
- {"@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration, name: unused, typed_per_filter_config: {f: {"@type": type.googleapis.com/envoy.extensions.filters.http.cors.v3.CorsPolicy}}}
- {"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: c, typed_extension_protocol_options: {envoy.extensions.upstreams.http.v3.HttpProtocolOptions: {
    "@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions, explicit_http_config: {http_protocol_options: {}}, http_filters: [{name: up, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.upstream_codec.v3.UpstreamCodec}}]}}}
`, "r: typed_per_filter_config[\"f\"] = f -> l\nr: typed_per_filter_config[\"g\"] = g -> ?\nr: typed_per_filter_config[\"up\"] = up -> c\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, edges(build(t, c.text), c.kinds)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMatchName(t *testing.T) {
	for _, c := range []struct {
		glob, name string
		want       bool
	}{
		{"outbound|*", "outbound|80||reviews.default", true},
		{"team/*", "team/shop/eu", true},
		{"*", "a/b", true},
		{"a?b", "a/b", true},
		{"team/shop", "team/shop", true},
		{"team/*", "shop", false},
	} {
		if got := graph.MatchName(c.glob, c.name); got != c.want {
			t.Errorf("MatchName(%q, %q) = %v", c.glob, c.name, got)
		}
	}
}
