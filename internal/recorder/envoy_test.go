package recorder_test

import (
	"fmt"
	"net"
	"testing"

	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/internal/reference"
)

// bootstrap is that of an Envoy that gets everything from a server, over one aggregated stream or over one for each type.
// source is where resources say that others come from.
func bootstrap(t *testing.T, addr string, delta, aggregated bool) (text, source string) {
	t.Helper()
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	api := "GRPC"
	if delta {
		api = "DELTA_GRPC"
	}
	own := fmt.Sprintf(`{"api_type": %q, "transport_api_version": "V3", "grpc_services": [{"envoy_grpc": {"cluster_name": "xds"}}]}`, api)
	source, aggregate := ads, "ads_config: "+own
	if !aggregated {
		source, aggregate = `{"resource_api_version": "V3", "api_config_source": `+own+"}", ""
	}
	return fmt.Sprintf(`
node: {id: edge-1, cluster: edge}
dynamic_resources:
  cds_config: %s
  lds_config: %[1]s
  %s
static_resources:
  clusters:
  - name: xds
    connect_timeout: 5s
    typed_extension_protocol_options:
      envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
        "@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions
        explicit_http_config: {http2_protocol_options: {}}
    load_assignment:
      cluster_name: xds
      endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: %s, port_value: %s}}}}]}]
`, source, aggregate, host, port), source
}

// TestEnvoy: the reference server and a real Envoy break nothing, in any variant. The proxy between them is not noticed.
func TestEnvoy(t *testing.T) {
	versions := []envoytest.Version{envoytest.Newest}
	if envoytest.Thorough() {
		versions = []envoytest.Version{"1.36", "1.37", "1.38", "1.39", envoytest.Newest}
	}
	envoytest.Need(t, versions...)
	for _, version := range versions {
		for _, delta := range []bool{false, true} {
			for _, aggregated := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s, Delta %t, aggregated %t", version, delta, aggregated), func(t *testing.T) {
					w := newWorld(t)
					w.playEnvoy(version, delta, aggregated)
					for _, finding := range w.end() {
						t.Error(finding)
					}
				})
			}
		}
	}
}

// playEnvoy lets an Envoy start, follow changes, reject one and reconnect.
func (w *world) playEnvoy(version envoytest.Version, delta, aggregated bool) {
	t := w.t
	text, source := bootstrap(t, w.addr, delta, aggregated)
	shop := func(timeout string) { w.store.Set("shop", cluster(t, source, "shop", timeout)) }
	shop("1s")
	w.store.Set("shop", assignment(t, "shop", "8080"))
	w.store.Set("web", listener(t, source))
	w.store.Set("web", routes(t, "*"))
	envoy, err := version.Serve(w.ctx, text, ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer envoy.Close()
	w.until("the listener", func() bool { _, err := envoy.Addr(w.ctx, "web"); return err == nil })

	w.answered(reference.Endpoints, func() { w.store.Set("shop", assignment(t, "shop", "8081")) })
	w.answered(reference.Routes, func() { w.store.Set("web", routes(t, "example.com")) })
	w.answered(reference.Clusters, func() { shop("2s") })
	w.answered(reference.Clusters, func() { shop("-1s") })
	w.until("the NACK", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.nacks > 0
	})
	w.answered(reference.Clusters, func() { shop("3s") })

	// A cluster is added, removed and added again.
	cart := cluster(t, source, "cart", "1s")
	w.store.Set("cart", assignment(t, "cart", "8080"))
	w.answered(reference.Endpoints, func() { w.store.Set("cart", cart) })
	w.answered(reference.Clusters, func() { w.store.Delete(reference.Clusters, "cart") })
	w.answered(reference.Endpoints, func() { w.store.Set("cart", cart) })

	w.reset()
	w.answered(reference.Endpoints, func() { w.store.Set("shop", assignment(t, "shop", "8082")) })
}
