package evidence_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/internal/evidence"
)

// shop is a bootstrap with two listeners, plain and TLS, and two clusters.
const shop = `
static_resources:
  listeners:
  - name: plain
    address: {socket_address: {address: 10.9.9.9, port_value: 80}}
    filter_chains:
    - filters: [&manager {name: envoy.filters.network.http_connection_manager, typed_config: {
        "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager,
        stat_prefix: ingress, http_filters: [{name: router, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}],
        route_config: {virtual_hosts: [{name: shop, domains: ["*"], routes: [
          {match: {path: /brief}, route: {cluster: shop, timeout: 0.1s}},
          {match: {path: /teapot}, direct_response: {status: 418}},
          {match: {prefix: /secure}, route: {cluster: secure}},
          {match: {prefix: /}, route: {cluster: shop}, request_headers_to_add: [{header: {key: x-tier, value: gold}}]}]}]}}}]
  - name: tls
    address: {socket_address: {address: 0.0.0.0, port_value: 443}}
    filter_chains:
    - filters: [*manager]
      transport_socket: {name: tls, typed_config: {"@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext,
        require_client_certificate: true, common_tls_context: {alpn_protocols: [h2, http/1.1],
          tls_certificates: [{certificate_chain: {filename: /etc/envoy/shop.example.com.crt}, private_key: {filename: /etc/envoy/shop.example.com.key}}],
          validation_context: {trusted_ca: {filename: /etc/envoy/ca.crt}}}}}
  clusters:
  - name: shop
    connect_timeout: 1s
    load_assignment: {cluster_name: shop, endpoints: [{lb_endpoints: [
      {endpoint: {address: {socket_address: {address: 10.0.0.1, port_value: 8080}}}},
      {endpoint: {address: {socket_address: {address: 10.0.0.2, port_value: 8080}}}}]}]}
  - name: secure
    connect_timeout: 1s
    type: STRICT_DNS
    transport_socket: {name: tls, typed_config: {"@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext, sni: secure.example.com,
      common_tls_context: {validation_context: {trusted_ca: {filename: /etc/envoy/ca.crt}, match_typed_subject_alt_names: [{san_type: DNS, matcher: {exact: secure.example.com}}]}}}}
    load_assignment: {cluster_name: secure, endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: secure.internal, port_value: 8443}}}}]}]}
`

// TestHolds: what these lines say is so.
func TestHolds(t *testing.T) {
	for name, text := range map[string]string{
		"requests": "send GET /a/../b?c=1 to plain\nwith x-user: ann\nwith x-user: bob\nget 200 from shop\nget date: …\nget no x-powered-by\n" +
			"shop sees GET /a/../b?c=1\nshop sees host: shop.example.com\nshop sees x-user: ann,bob\nshop sees x-tier: gold\nshop sees no cookie\n\nshop sees 1 request\nsecure sees nothing",
		"IPv4":      "send GET /teapot to tls over IPv4 over TLS\nget closed\nsend GET /teapot to plain over IPv4\nget 418 from Envoy",
		"counts":    "send GET / to plain 4 times\nget 200 from 10.0.0.1:8080 2 times\nget 200 from shop 4 times\nstat cluster.shop.upstream_rq_total is 4\nstat cluster.shop.upstream_rq_200 is at least 3",
		"body":      "send POST / to plain\nwith body of 2000 bytes\nget 200\nshop sees body of 2000 bytes",
		"Envoy":     "send GET /teapot to plain\nget 418 from Envoy\nadmin /clusters shows shop::\nadmin /clusters lacks nowhere::",
		"behaviour": "upstream shop answers 503\nupstream shop answers with retry-after: 5\nsend GET / to plain\nget 503 from shop\nget retry-after: 5\nupstream shop closes\nsend GET / to plain\nget 503 from Envoy",
		"TLS": "upstream secure speaks TLS 1.2 as secure.example.com\nsend GET /secure to tls over TLS\nwith SNI shop.example.com\nwith certificate ann\nget 200 from secure\nsecure sees SNI secure.example.com\nget certificate shop.example.com\n" +
			"send GET / to tls over TLS\nget closed\nsend GET / to tls over TLS\nwith self-signed certificate ann\nget closed once",
		"lost":       "upstream shop is lost\nsend GET /brief to plain\nget 504 from Envoy",
		"admin":      "send GET /ready to admin\nget 200 from Envoy\nsend GET /ready to admin over 127.0.0.2\nget closed",
		"wrong name": "upstream secure speaks TLS as other.example.com\nsend GET /secure to plain\nget 503 from Envoy",
		"HTTP/2":     "send GET /x to tls over TLS over HTTP/2\nwith certificate ann\nwith host: a.example.com\nget 200 from shop\nshop sees host: a.example.com\nsend GET / to plain over HTTP/2\nget 200",
		"TCP":        "send GET / to plain\nwith first line PROXY TCP4 192.0.2.1 192.0.2.2 1 2\nget 400 from Envoy",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := check(t, text, false); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestDoesNotHold: each kind of line can fail.
func TestDoesNotHold(t *testing.T) {
	for text, want := range map[string]string{
		"send GET / to plain\nget 404":                                    ":2: 0 answers of 1 are like that: 1 × 200 from shop 10.0.0.",
		"send GET /teapot to plain\nget 418 from shop":                    ":2: 0 answers of 1 are like that: 1 × 418 from Envoy",
		"send GET /teapot to plain 3 times\nget 418 2 times":              ":2: 3 answers of 3 are like that",
		"send GET / to plain\nget closed":                                 ":2: 0 answers of 1",
		"send GET / to plain\nget server: apache":                         "has server: envoy",
		"send GET / to plain\nget no server":                              "has server: envoy",
		"send GET / to plain\nget certificate a":                          "came with another certificate: none",
		"send GET / to tls over TLS\nget 200":                             "1 × closed (",
		"send GET / to plain\nsecure sees GET /":                          ":2: secure saw 0 requests",
		"send GET / to plain\nshop sees x-tier: silver":                   ":2: shop saw 1 requests: [GET / ",
		"send GET / to plain\nshop sees nothing":                          ":2: shop saw 1 requests",
		"send GET / to plain\nshop sees no host":                          ":2: shop saw 1 requests",
		"send POST / to plain\nshop sees body of 1 bytes":                 ":2: shop saw 1 requests",
		"stat cluster.shop.upstream_rq_total is 7":                        ":1: it is 0",
		"stat cluster.shop.upstream_rq_totals is 0":                       ":1: Envoy has no such stat",
		"admin /clusters lacks shop::":                                    ":1: the page is:",
		"send GET /\nget 200":                                             ":1: say to which listener: plain, tls",
		"send GET / to nowhere\nget 200":                                  ":1: the example has no listener nowhere, only plain, tls",
		"replace nowhere by ca\nsend GET / to plain\nget 200":             ":1: the example has no certificate nowhere",
		"upstream shop speaks TLS\nsend GET / to plain\nshop sees no SNI": "shop saw 0 requests",
		"send GET / to plain\nshop sees SNI a":                            ":2: shop saw 1 requests",
		"upstream nowhere hangs\nsend GET / to plain\nget 200":            ":1: the example has no upstream nowhere, only 10.0.0.1:8080",
		"send GET / to plain\nnowhere sees GET /":                         ":2: the example has no upstream nowhere",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			if err := check(t, text, true); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want …%s…", err, want)
			}
		})
	}
}

func check(t *testing.T, text string, hurry bool) error {
	envoytest.Need(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	e, err := evidence.Parse("seen/bad.yaml", text)
	if err != nil {
		return err
	}
	if hurry {
		e.Hurry()
	}
	return e.Check(ctx, envoytest.Newest, map[string]string{"bad.yaml": shop})
}

// TestFiles: a bootstrap can name other files of the example.
func TestFiles(t *testing.T) {
	envoytest.Need(t)
	e, err := evidence.Parse("seen/bad", "send GET /\nget 200 from shop")
	if err != nil {
		t.Fatal(err)
	}
	cut := strings.Index(shop, "  - name: tls")
	listener := strings.Replace(shop[:cut], "route: {cluster: secure}", "direct_response: {status: 200}", 1)
	err = e.Check(t.Context(), envoytest.Newest, map[string]string{
		"bad/envoy.yaml": listener + `  clusters:
  - name: shop
    connect_timeout: 1s
    type: EDS
    eds_cluster_config: {eds_config: {path_config_source: {path: ./eds.yaml}, resource_api_version: V3}}
`,
		"bad/eds.yaml": fmt.Sprintf(`resources: [{"@type": %s, cluster_name: shop, endpoints: [{lb_endpoints: [
  {endpoint: {address: {socket_address: {address: 10.0.0.1, port_value: 8080}}}}]}]}]`, envoytest.Endpoints),
	})
	if err != nil {
		t.Error(err)
	}
}
