package envoytest

import (
	"fmt"
	"strings"
)

// Streams is how an Envoy talks to a management server: over state of the world or Delta, on one aggregated stream or on one for each type.
type Streams struct{ Delta, PerType bool }

// Source returns a ConfigSource: where the resources of such an Envoy get others from.
func (s Streams) Source() string {
	if s.PerType {
		return `{"resource_api_version": "V3", "api_config_source": ` + s.service() + `}`
	}
	return `{"resource_api_version": "V3", "ads": {}}`
}

func (s Streams) service() string {
	api := "GRPC"
	if s.Delta {
		api = "DELTA_GRPC"
	}
	return fmt.Sprintf(`{"api_type": %q, "transport_api_version": "V3", "grpc_services": [{"envoy_grpc": {"cluster_name": "xds"}}]}`, api)
}

// Bootstrap returns the bootstrap of an Envoy that gets all clusters and listeners from the management server at an address (IPv4:port).
func (s Streams) Bootstrap(server string) string {
	var aggregate string
	if !s.PerType {
		aggregate = "ads_config: " + s.service()
	}
	host, port, _ := strings.Cut(server, ":")
	return fmt.Sprintf(`
node: {id: edge-1, cluster: edge}
dynamic_resources:
  cds_config: %s
  lds_config: %[1]s
  %s
static_resources:
  clusters:
  - name: xds
    typed_extension_protocol_options:
      envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
        "@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions
        explicit_http_config: {http2_protocol_options: {}}
    load_assignment:
      cluster_name: xds
      endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: %s, port_value: %s}}}}]}]
`, s.Source(), aggregate, host, port)
}
