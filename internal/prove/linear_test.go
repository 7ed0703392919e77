package prove_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/posture"
	"github.com/xdslint/xdslint/internal/prove"
)

// gateway is a bootstrap with a filter chain, a host and a route for each of n names. The routes begin with a prefix.
func gateway(n int, prefix string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `
    - name: chain-%[1]d
      filter_chain_match: {server_names: [shop-%[1]d.example.com]}
      filters:
      - name: http
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: in
          route_config: {virtual_hosts: [{name: shop, domains: ["*"], routes: [{match: {prefix: %[2]s/%[1]d}, route: {cluster: shop}}]}]}
          http_filters:
          - {name: router, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}`, i, prefix)
	}
	return fmt.Sprintf(`
static_resources:
  listeners:
  - name: in
    address: {socket_address: {address: 127.0.0.1, port_value: 443}}
    listener_filters:
    - {name: tls, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector}}
    filter_chains:%s
  clusters:
  - {name: shop, connect_timeout: 1s, load_assignment: {cluster_name: shop, endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: 81}}}}]}]}}
`, b.String())
}

// TestFilterChains: what it takes to make a report about filter chains, or to compare them, does not grow with the square of their number.
func TestFilterChains(t *testing.T) {
	for name, report := range map[string]func(before, after *graph.Snapshot){
		"posture": func(_, after *graph.Snapshot) { _, _ = posture.Make(after, nil) },
		"prove":   func(before, after *graph.Snapshot) { prove.Prove(before, after, prove.Options{}) },
	} {
		const n = 250
		allocated := func(chains int) int64 {
			before, after := snapshot(t, gateway(chains, "/old")), snapshot(t, gateway(chains, "/new"))
			was := totalAlloc()
			report(before, after)
			return totalAlloc() - was
		}
		one, four := allocated(n), allocated(4*n)
		t.Logf("%s: %d kB for %d filter chains, %d kB for %d", name, one>>10, n, four>>10, 4*n)
		if four > 8*one {
			t.Errorf("%s: %d bytes for %d filter chains, %d for %d", name, one, n, four, 4*n)
		}
	}
}

func totalAlloc() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.TotalAlloc)
}
