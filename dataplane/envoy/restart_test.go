package envoy_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/xdslint/xdslint/internal/envoytest"
)

var anyRejected = regexp.MustCompile(`update_rejected: [1-9]`)

// TestAfterRestart starts Envoys that reject the first configuration that they get of a resource.
func TestAfterRestart(t *testing.T) {
	envoytest.Need(t)
	t.Parallel()
	backend := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(backend.Close)
	const (
		routes   = `{"@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration, name: r, virtual_hosts: [{name: a, domains: ["*"]}, {name: b, domains: ["*"]}]}`
		cluster  = `{"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: c, type: STRICT_DNS, eds_cluster_config: {}}`
		hosts    = `{"@type": type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment, cluster_name: c, endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: shop.example, port_value: 80}}}}]}]}`
		secret   = `{"@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret, name: s, tls_certificate: {certificate_chain: {inline_string: none}, private_key: {inline_string: none}}}`
		listener = `{"@type": type.googleapis.com/envoy.config.listener.v3.Listener, name: l, address: {socket_address: {address: 127.0.0.1, port_value: 0}}}`
	)
	toCluster := http1(inline("route: {cluster: c}"))
	for _, c := range []struct {
		name, resource, bootstrap, want string
	}{
		{"route configuration", routes, boot(http1("rds: {route_config_name: r, config_source: SOURCE}")), "404 NR"},
		{"cluster", cluster, boot(toCluster) + "dynamic_resources: {cds_config: SOURCE}\n", "503 NC"},
		{"endpoints", hosts, boot(toCluster, "    - {name: c, type: EDS, connect_timeout: 1s, eds_cluster_config: {eds_config: SOURCE}}"), "503 UH"},
		{"secret of a listener", secret, boot(strings.Replace(toCluster, "- filters:", "- transport_socket: "+tlsContext("Downstream")+"\n        filters:", 1)), "closed"},
		{"secret of a cluster", secret, boot(toCluster, strings.Replace(static("c", backend.Listener.Addr().String()), "connect_timeout: 1s", "connect_timeout: 1s, transport_socket: "+tlsContext("Upstream"), 1)), "503 UF"},
		{"listener", listener, "dynamic_resources: {lds_config: SOURCE}\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			path := filepath.Join(t.TempDir(), "rejected.yaml")
			if err := os.WriteFile(path, []byte("resources:\n- "+c.resource+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			source := "{resource_api_version: V3, path_config_source: {path: " + path + "}}"
			e, err := envoytest.Serve(ctx, strings.ReplaceAll(c.bootstrap, "SOURCE", source), ".yaml")
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			stats, err := e.Admin(ctx, "/stats?filter=update_rejected")
			if err != nil || !anyRejected.Match(stats) {
				t.Fatalf("Envoy does not reject it: %s, %v", stats, err)
			}
			if c.want == "" {
				if listeners, err := e.Admin(ctx, "/listeners"); err != nil || len(listeners) > 0 {
					t.Errorf("there are listeners: %s, %v", listeners, err)
				}
			} else if got := ask(t, ctx, e); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// tlsContext returns a transport socket with a certificate from the source.
func tlsContext(side string) string {
	return `{name: tls, typed_config: {"@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.` + side +
		"TlsContext, common_tls_context: {tls_certificate_sds_secret_configs: [{name: s, sds_config: SOURCE}]}}}"
}
