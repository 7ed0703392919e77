package envoy_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"

	"github.com/xdslint/xdslint/internal/envoytest"
)

// TestWhatEnvoyDoes checks on the real Envoy what the notes claim about names that do not exist. It sends a request through the listener
// and compares the status and the response flags.
func TestWhatEnvoyDoes(t *testing.T) {
	envoytest.Need(t)
	t.Parallel()
	backend := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(backend.Close)
	upstream := static("backend", backend.Listener.Addr().String())
	toBackend, nowhere := "route: {cluster: backend}", "route: {cluster: nowhere}"

	for _, c := range []struct {
		name, bootstrap, want string
	}{
		{"the backend answers", boot(http1(inline(toBackend)), upstream), "200 -"},
		{"route", boot(http1(inline(nowhere)), upstream), "503 NC"},
		{"weighted", boot(http1(inline("route: {weighted_clusters: {clusters: [{name: nowhere, weight: 1}]}}")), upstream), "503 NC"},
		{"mirror", boot(http1(inline("route: {cluster: backend, request_mirror_policies: [{cluster: nowhere}]}")), upstream), "200 -"},
		{"tcp proxy", boot(network("tcp_proxy.v3.TcpProxy, stat_prefix: s, cluster: nowhere"), upstream), "closed"},
		{"ext_authz", boot(http1(inline(toBackend), "ext_authz.v3.ExtAuthz, transport_api_version: V3, "+grpc), upstream), "403 UAEX"},
		{"ext_authz fails open", boot(http1(inline(toBackend), "ext_authz.v3.ExtAuthz, transport_api_version: V3, failure_mode_allow: true, "+grpc), upstream), "200 -"},
		{"rate limit", boot(http1(inline("route: {cluster: backend, rate_limits: [{actions: [{remote_address: {}}]}]}"), "ratelimit.v3.RateLimit, domain: d, rate_limit_service: {transport_api_version: V3, "+grpc+"}"), upstream), "200 -"},
		{"rate limit fails closed", boot(http1(inline("route: {cluster: backend, rate_limits: [{actions: [{remote_address: {}}]}]}"), "ratelimit.v3.RateLimit, domain: d, failure_mode_deny: true, rate_limit_service: {transport_api_version: V3, "+grpc+"}"), upstream), "500 RLSE"},
		{"ext_proc", boot(http1(inline(toBackend), "ext_proc.v3.ExternalProcessor, "+grpc), upstream), "500 -"},
		{"jwt", boot(http1(inline(toBackend), `jwt_authn.v3.JwtAuthentication, providers: {p: {issuer: i, remote_jwks: {http_uri: {uri: "http://i/keys", cluster: nowhere, timeout: 1s}}}}, rules: [{match: {prefix: /}, requires: {provider_name: p}}]`), upstream), "401 -"},
		{"health check", boot(http1(inline(toBackend), `health_check.v3.HealthCheck, pass_through_mode: false, headers: [{name: ":path", string_match: {exact: /}}], cluster_min_healthy_percentages: {nowhere: {value: 1}}`), upstream), "503 LH"},
		{"access log", boot(http1("access_log: [{name: a, typed_config: {\"@type\": type.googleapis.com/envoy.extensions.access_loggers.grpc.v3.HttpGrpcAccessLogConfig, common_config: {log_name: l, transport_api_version: V3, "+grpc+"}}}, "+stdout+"]\n        "+inline(toBackend)), upstream), "200 -"},
		{"aggregate with one member", boot(http1(inline("route: {cluster: all}")), upstream, aggregate("all", "nowhere, backend")), "200 -"},
		{"aggregate without members", boot(http1(inline("route: {cluster: all}")), upstream, aggregate("all", "nowhere")), "503 UH"},
		{"aggregate cycle without hosts", boot(http1(inline("route: {cluster: all}")), upstream, aggregate("all", "more"), aggregate("more", "all")), "503 UH"},
		{"aggregate of aggregates without hosts", boot(http1(inline("route: {cluster: all}")), upstream, aggregate("all", "more"), aggregate("more", "nowhere")), "503 UH"},
		{"aggregate cycle", boot(http1(inline("route: {cluster: all}")), upstream, aggregate("all", "more, backend"), aggregate("more", "all")), "200 -"},
		{"internal listener", boot(http1(inline("route: {cluster: tunnel}")), "    - {name: tunnel, connect_timeout: 1s, load_assignment: {cluster_name: tunnel, endpoints: [{lb_endpoints: [{endpoint: {address: {envoy_internal_address: {server_listener_name: nowhere}}}}]}]}}"), "503 UF"},
		{"matcher target", boot(strings.Replace(network("tcp_proxy.v3.TcpProxy, stat_prefix: s, cluster: backend"), "filter_chains:", `default_filter_chain: {filters: [{name: t, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy, stat_prefix: s, cluster: backend}}]}
      filter_chain_matcher: {on_no_match: {action: {name: c, typed_config: {"@type": type.googleapis.com/google.protobuf.StringValue, value: nowhere}}}}
      filter_chains:`, 1), upstream), "closed"},
		{"per-filter key", boot(http1(inline(toBackend+"\n              typed_per_filter_config: {envoy.filters.http.rbac: {\"@type\": type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBACPerRoute}}"), "rbac.v3.RBAC, rules: {}"), upstream), "403 -"},
		{"per-filter key, the name of the filter", boot(http1(inline(toBackend+"\n              typed_per_filter_config: {f: {\"@type\": type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBACPerRoute}}"), "rbac.v3.RBAC, rules: {}"), upstream), "200 -"},
		{"rds", boot(http1("rds: {route_config_name: nowhere, config_source: "+file(t)+"}"), upstream), "404 NR"},
		{"eds", boot(http1(inline("route: {cluster: e}")), "    - {name: e, type: EDS, connect_timeout: 1s, eds_cluster_config: {eds_config: "+file(t)+"}}"), "503 UH"},
		{"eds, with endpoints of its own", boot(http1(inline(toBackend)), strings.Replace(upstream, "{name: backend,", "{name: backend, type: EDS, eds_cluster_config: {eds_config: "+file(t)+"},", 1)), "503 UH"},
		{"ecds", boot(strings.Replace(http1(inline(toBackend)), "http_filters:", "http_filters:\n            - {name: nowhere, config_discovery: {config_source: "+file(t)+", type_urls: [type.googleapis.com/envoy.extensions.filters.http.buffer.v3.Buffer]}}", 1), upstream), "500 NFCF"},
		{"sds", boot(strings.Replace(http1(inline(toBackend)), "- filters:", `- transport_socket: {name: tls, typed_config: {"@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext, common_tls_context: {tls_certificate_sds_secret_configs: [{name: nowhere, sds_config: `+file(t)+`}]}}}
        filters:`, 1), upstream), "closed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			e, err := envoytest.Serve(ctx, c.bootstrap, ".yaml")
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			if got := ask(t, ctx, e); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// ask sends a request through the listener "l". It returns the status and flags from the access log, or "closed".
func ask(t *testing.T, ctx context.Context, e *envoytest.Envoy) string {
	t.Helper()
	addr, err := e.Addr(ctx, "l")
	if err != nil {
		t.Fatal(err)
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline)
	}
	// A listener that is closing the connection may have reset it by now.
	_, _ = fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: shop.example\r\nAuthorization: Bearer %s\r\n\r\n", jwt)
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return "closed"
	}
	_ = response.Body.Close()
	for ctx.Err() == nil {
		if _, rest, found := strings.Cut(e.Log(), "ASKED "); found && strings.Contains(rest, "\n") {
			line, _, _ := strings.Cut(rest, "\n")
			return line
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("no line in the access log: %s", e.Log())
	return ""
}

// TestEnvoyExitsAtStartup starts Envoy with bootstraps that --mode validate accepts.
func TestEnvoyExitsAtStartup(t *testing.T) {
	envoytest.Need(t)
	t.Parallel()
	server := static("config", "127.0.0.1:1")
	for name, bootstrap := range map[string]string{
		"cds over ads": "dynamic_resources: {cds_config: {resource_api_version: V3, ads: {}}}\n",
		"lds over ads": "dynamic_resources: {lds_config: {resource_api_version: V3, ads: {}}}\n",
		"rds over ads": boot(http1("rds: {route_config_name: r, config_source: {resource_api_version: V3, ads: {}}}"), server),
		"lds server":   "dynamic_resources: {lds_config: {resource_api_version: V3, api_config_source: {api_type: GRPC, transport_api_version: V3, grpc_services: [{envoy_grpc: {cluster_name: nowhere}}]}}}\n",
		"lds validator": "dynamic_resources: {lds_config: {resource_api_version: V3, api_config_source: {api_type: GRPC, transport_api_version: V3, " +
			"grpc_services: [{envoy_grpc: {cluster_name: config}}], config_validators: [{name: v, typed_config: " +
			"{'@type': type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}]}}}\n" +
			"node: {id: edge, cluster: edge}\nstatic_resources:\n  clusters:\n" + server,
		"load reports":   "cluster_manager: {load_stats_config: {api_type: GRPC, transport_api_version: V3, grpc_services: [{envoy_grpc: {cluster_name: nowhere}}]}}\n",
		"health reports": "hds_config: {api_type: GRPC, transport_api_version: V3, grpc_services: [{envoy_grpc: {cluster_name: nowhere}}]}\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			verdict, err := envoytest.ValidateText(ctx, bootstrap, ".yaml")
			if err != nil || verdict.Outcome != envoytest.Accept {
				t.Errorf("--mode validate says %v, %v", verdict, err)
			}
			e, err := envoytest.Serve(ctx, bootstrap, ".yaml")
			if err != nil {
				return
			}
			defer e.Close()
			for err == nil { // Envoy may be live for a moment before it exits
				time.Sleep(20 * time.Millisecond)
				_, err = e.Admin(ctx, "/ready")
			}
			if ctx.Err() != nil {
				t.Error("it runs")
			}
		})
	}
}

// TestStaticClusterStays checks that CDS cannot replace a cluster of the bootstrap, and that the update is accepted anyway.
func TestStaticClusterStays(t *testing.T) {
	envoytest.Need(t)
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	ads, err := envoytest.Start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer ads.Close()
	resources, err := envoytest.Pack(&clusterv3.Cluster{Name: "xds", AltStatName: "replaced"}, &clusterv3.Cluster{Name: "other"})
	if err != nil {
		t.Fatal(err)
	}
	result, err := ads.Push(ctx, resources)
	if err != nil || result.Nack() != "" {
		t.Fatalf("got %+v, %v; want ACK", result, err)
	}
	page, err := ads.Admin(ctx, "/config_dump?resource=dynamic_active_clusters")
	if err != nil {
		t.Fatal(err)
	}
	if text := string(page); !strings.Contains(text, `"other"`) || strings.Contains(text, "xds") {
		t.Errorf("clusters of CDS: %s", text)
	}
}

const (
	grpc   = "grpc_service: {envoy_grpc: {cluster_name: nowhere}}"
	stdout = `{name: l, typed_config: {"@type": type.googleapis.com/envoy.extensions.access_loggers.stream.v3.StdoutAccessLog, log_format: {text_format_source: {inline_string: "ASKED %RESPONSE_CODE% %RESPONSE_FLAGS%\n"}}}}`
	// A token with a well-formed header and claims: Envoy needs a key set to reject it.
	jwt = "eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJpIn0.AAAA"
)

func boot(listener string, clusters ...string) string {
	return "static_resources:\n  listeners:\n    - name: l\n      address: {socket_address: {address: 127.0.0.1, port_value: 0}}\n      " + listener +
		"\n  clusters:\n" + strings.Join(clusters, "\n") + "\n"
}

// http1 returns the filter chain of a listener with a connection manager. The filters are "package.Type, fields", and are named f.
func http1(manager string, filters ...string) string {
	text := "filter_chains:\n      - filters:\n        - name: hcm\n          typed_config:\n" +
		"            \"@type\": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager\n" +
		"            stat_prefix: s\n"
	if !strings.Contains(manager, "access_log:") {
		text += "            access_log: [" + stdout + "]\n"
	}
	for line := range strings.Lines(manager) {
		text += "    " + "        " + strings.TrimPrefix(line, "        ")
	}
	text += "\n            http_filters:\n"
	for _, f := range filters {
		text += `            - {name: f, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.` + f + "}}\n"
	}
	return text + `            - {name: r, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}`
}

func inline(route string) string {
	return "route_config:\n  validate_clusters: false\n  virtual_hosts:\n  - name: v\n    domains: [\"*\"]\n    routes:\n    - match: {prefix: /}\n      " +
		strings.ReplaceAll(route, "\n              ", "\n      ")
}

func network(filter string) string {
	return "filter_chains: [{name: c, filters: [{name: net, typed_config: {\"@type\": type.googleapis.com/envoy.extensions.filters.network." + filter + "}}]}]"
}

func static(name, addr string) string {
	host, port, _ := strings.Cut(addr, ":")
	return fmt.Sprintf("    - {name: %s, connect_timeout: 1s, load_assignment: {cluster_name: %[1]s, endpoints: [{lb_endpoints: "+
		"[{endpoint: {address: {socket_address: {address: %s, port_value: %s}}}}]}]}}", name, host, port)
}

func aggregate(name, members string) string {
	return fmt.Sprintf("    - {name: %s, connect_timeout: 1s, lb_policy: CLUSTER_PROVIDED, cluster_type: {name: a, typed_config: "+
		`{"@type": type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig, clusters: [%s]}}}`, name, members)
}

// file returns a config source that serves nothing and has a short initial_fetch_timeout.
func file(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "empty.yaml")
	if err := os.WriteFile(path, []byte("resources: []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return "{resource_api_version: V3, initial_fetch_timeout: 0.2s, path_config_source: {path: " + path + "}}"
}
