package load

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// clusters is a DiscoveryResponse with n clusters, some 25 lines each.
func clusters(n int) []byte {
	var b bytes.Buffer
	b.WriteString("version_info: \"1\"\nresources:\n")
	for i := range n {
		fmt.Fprintf(&b, strings.TrimLeft(`
- "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
  name: cluster-%[1]d
  connect_timeout: 0.25s
  type: STRICT_DNS
  lb_policy: LEAST_REQUEST
  circuit_breakers:
    thresholds:
    - max_connections: 1000
      max_requests: 2000
  load_assignment:
    cluster_name: cluster-%[1]d
    endpoints:
    - lb_endpoints:
      - endpoint:
          address:
            socket_address: {address: backend-%[1]d.example.com, port_value: 8080}
  typed_extension_protocol_options:
    envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
      "@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions
      explicit_http_config:
        http2_protocol_options: {}
`, "\n"), i)
	}
	return b.Bytes()
}

func BenchmarkClusters(b *testing.B) {
	text := clusters(10_000)
	path := filepath.Join(b.TempDir(), "cds.yaml")
	if err := os.WriteFile(path, text, 0o644); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Paths(context.Background(), []string{path}, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
