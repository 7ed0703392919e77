package playground_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/xdslint/xdslint/internal/playground"
)

// config has so many lines: virtual hosts, each with a cluster.
func config(lines int) string {
	var hosts, clusters strings.Builder
	for i := range lines / 19 {
		fmt.Fprintf(&hosts, `            - name: shop-%[1]d
              domains: ["shop-%[1]d.example.com"]
              routes:
              - match: {prefix: /api}
                route: {cluster: shop-%[1]d, timeout: 5s, retry_policy: {retry_on: 5xx, num_retries: 2}}
`, i)
		fmt.Fprintf(&clusters, `  - name: shop-%[1]d
    type: STRICT_DNS
    connect_timeout: 1s
    lb_policy: LEAST_REQUEST
    load_assignment:
      cluster_name: shop-%[1]d
      endpoints:
      - lb_endpoints:
        - endpoint:
            address:
              socket_address:
                address: shop-%[1]d.internal
                port_value: 8080
`, i)
	}
	return `static_resources:
  listeners:
  - name: edge
    address: {socket_address: {address: 0.0.0.0, port_value: 8080}}
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: edge
          http_filters:
          - name: envoy.filters.http.router
            typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}
          route_config:
            name: edge
            virtual_hosts:
` + hosts.String() + "  clusters:\n" + clusters.String()
}

// BenchmarkLint is a warm lint as the page asks for it, JSON included, after a key: by an engine that keeps what it has read, and by a new one.
func BenchmarkLint(b *testing.B) {
	for _, lines := range []int{200, 5000} {
		text := config(lines)
		for name, place := range map[string]string{"listener": "prefix: /api", "cluster": "connect_timeout: 1s"} {
			begin := strings.LastIndex(text[:len(text)/4*map[string]int{"listener": 1, "cluster": 3}[name]], place)
			requests := make([][]byte, 10)
			for i := range requests {
				edited := text[:begin] + place + strings.Repeat(" ", i) + text[begin+len(place):]
				requests[i], _ = json.Marshal(map[string]any{"files": map[string]string{"envoy.yaml": edited}})
			}
			b.Run(fmt.Sprintf("%d-lines/%s/new", lines, name), func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					(&playground.Engine{}).Call("lint", requests[i%len(requests)])
				}
			})
			b.Run(fmt.Sprintf("%d-lines/%s/edited", lines, name), func(b *testing.B) {
				engine := &playground.Engine{}
				for i := 0; b.Loop(); i++ {
					engine.Call("lint", requests[i%len(requests)])
				}
			})
		}
	}
}
