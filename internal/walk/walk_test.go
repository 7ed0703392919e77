package walk_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/cputime"
	"github.com/xdslint/xdslint/internal/walk"
)

// managed puts the fields of an HTTP connection manager into a bootstrap.
const managed = `
static_resources:
  listeners:
  - name: in
    address: {socket_address: {address: 127.0.0.1, port_value: 80}}
    filter_chains:
    - filters:
      - name: http
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: in
%s
  clusters:
  - {name: shop, connect_timeout: 1s, load_assignment: {cluster_name: shop, endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: 81}}}}]}]}}
`

func walker(t testing.TB, bootstrap string) *walk.Walker {
	t.Helper()
	in, err := load.Texts(context.Background(), map[string][]byte{"envoy.yaml": []byte(bootstrap)}, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	snapshot, err := in.One("envoy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return walk.New(snapshot)
}

func get(path string) *walk.Request {
	host := "shop.example.com"
	return &walk.Request{Method: "GET", Authority: &host, Path: &path}
}

// TestScopes: a header chooses the scope, and with it the route table.
func TestScopes(t *testing.T) {
	w := walker(t, `
"@type": type.googleapis.com/envoy.config.listener.v3.Listener
name: in
address: {socket_address: {address: 127.0.0.1, port_value: 80}}
filter_chains:
- filters:
  - name: http
    typed_config:
      "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
      stat_prefix: in
      http_filters: [{name: router, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}]
      scoped_routes:
        name: scopes
        scope_key_builder: {fragments: [{header_value_extractor: {name: x-tenant, element_separator: ";", element: {separator: "=", key: t}}}]}
        rds_config_source: {ads: {}}
        scoped_rds: {scoped_rds_config_source: {ads: {}}}
---
"@type": type.googleapis.com/envoy.config.route.v3.ScopedRouteConfiguration
name: blue
route_configuration_name: blue
key: {fragments: [{string_key: blue}]}
---
"@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration
name: blue
virtual_hosts: [{name: all, domains: ["*"], routes: [{name: hello, match: {prefix: /}, direct_response: {status: 204}}]}]
`)
	for header, want := range map[string]string{"a=1;t=blue": "hello", "t=green": "", "": ""} {
		r := get("/")
		if header != "" {
			r.Headers = []walk.Header{{"x-tenant", header}}
		}
		a, err := w.Walk(r)
		if err != nil || a.Route != want {
			t.Errorf("%s: %q, %v; want %q", header, a.Route, err, want)
		}
		if unknown := a.Unknown["route"] != ""; unknown != (header == "t=green") {
			t.Errorf("%s: not known: %v", header, a.Unknown) // another scope may come over xDS
		}
	}
}

// TestWithoutHTTP: a walk ends where the filter chain does not have an HTTP connection manager.
func TestWithoutHTTP(t *testing.T) {
	w := walker(t, `
"@type": type.googleapis.com/envoy.config.listener.v3.Listener
name: in
address: {socket_address: {address: 127.0.0.1, port_value: 80}}
filter_chains:
- filters: [{name: tcp, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.network.redis_proxy.v3.RedisProxy, stat_prefix: in, settings: {op_timeout: 1s}}}]
---
"@type": type.googleapis.com/envoy.config.listener.v3.Listener
name: empty
address: {socket_address: {address: 127.0.0.1, port_value: 81}}
filter_chains: [{name: all}]
`)
	for _, port := range []uint32{80, 81} {
		r := get("/")
		r.Listener.Port = port
		a, err := w.Walk(r)
		if err != nil || a.Unknown["status"] == "" && a.Status != nil {
			t.Errorf("port %d: %v, %v", port, a, err)
		}
	}
}

// TestFaultByChance: a fault of one cluster is not known to happen where chance chooses the cluster.
func TestFaultByChance(t *testing.T) {
	w := walker(t, fmt.Sprintf(managed, `
          route_config: {virtual_hosts: [{name: all, domains: ["*"], routes: [{match: {prefix: /}, route: {weighted_clusters: {clusters: [{name: shop, weight: 1}, {name: other, weight: 1}]}}}]}]}
          http_filters:
          - name: fault
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.filters.http.fault.v3.HTTPFault
              abort: {http_status: 418, percentage: {numerator: 100}}
              upstream_cluster: shop
          - {name: router, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}`))
	a, err := w.Walk(get("/"))
	if err != nil || !strings.Contains(a.Unknown["status"], "the filter fault depends on the cluster") {
		t.Errorf("%v, %v", a.Unknown, err)
	}
}

// TestTerminated: a CONNECT request that Envoy terminates has no path upstream, so a rewrite does no harm.
func TestTerminated(t *testing.T) {
	for config, want := range map[string]int{"": 503, ", connect_config: {}": 200} {
		w := walker(t, fmt.Sprintf(managed, `
          route_config:
            virtual_hosts:
            - name: all
              domains: ["*"]
              routes: [{match: {connect_matcher: {}}, route: {cluster: shop, prefix_rewrite: /x, upgrade_configs: [{upgrade_type: CONNECT`+config+`}]}}]
          http_filters: [{name: router, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}]`))
		host := "shop.example.com:443"
		a, err := w.Walk(&walk.Request{Method: "CONNECT", Authority: &host})
		if err != nil || a.Status == nil || *a.Status != want {
			t.Errorf("%q: %v, %v, want %d", config, a.Status, err, want)
		}
	}
}

// TestDropped: which requests a cluster drops is not known.
func TestDropped(t *testing.T) {
	w := walker(t, strings.Replace(fmt.Sprintf(managed, `
          route_config: {virtual_hosts: [{name: all, domains: ["*"], routes: [{match: {prefix: /}, route: {cluster: shop}}]}]}
          http_filters: [{name: router, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}]`),
		"cluster_name: shop,", "cluster_name: shop, policy: {drop_overloads: [{category: half, drop_percentage: {numerator: 50}}]},", 1))
	if a, err := w.Walk(get("/")); err != nil || a.Unknown["status"] == "" {
		t.Errorf("%v, %v", a.Unknown, err)
	}
}

// TestNth: the requests after the first ones find an empty bucket.
func TestNth(t *testing.T) {
	w := walker(t, fmt.Sprintf(managed, `
          route_config: {virtual_hosts: [{name: all, domains: ["*"], routes: [{match: {prefix: /}, route: {cluster: shop}}]}]}
          http_filters:
          - name: limit
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit
              stat_prefix: limit
              token_bucket: {max_tokens: 2, fill_interval: 3600s}
              filter_enabled: {default_value: {numerator: 100}}
              filter_enforced: {default_value: {numerator: 100}}
          - {name: router, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}`))
	for nth, want := range []int{200, 200, 200, 429} {
		r := get("/")
		r.Nth = nth
		a, err := w.Walk(r)
		if err != nil || a.Status == nil || *a.Status != want {
			t.Errorf("request %d: %v, %v; want %d", nth, a.Status, err, want)
		}
	}
}

// TestLargeTable: a thousand walks through ten thousand routes are fast.
func TestLargeTable(t *testing.T) {
	var routes strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&routes, "          - {name: r%d, match: {prefix: /team%d/service%d/}, route: {cluster: shop}}\n", i, i%100, i)
	}
	w := walker(t, fmt.Sprintf(managed, `
          http_filters: [{name: router, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}]
          route_config:
            virtual_hosts:
            - name: all
              domains: ["*"]
              routes:
`+strings.ReplaceAll(routes.String(), "          -", "              -")))
	walk := func(n int) {
		for i := range n {
			path := fmt.Sprintf("/team%d/service%d/x", i%100, i)
			a, err := w.Walk(get(path))
			if err != nil || a.Route != fmt.Sprintf("r%d", i) {
				t.Fatalf("%s: %s, %v", path, a.Route, err)
			}
		}
	}
	walk(1)
	took := cputime.Of(t, func() { walk(1000) })
	t.Logf("1,000 walks took %s", took)
	if took > 5*time.Second { // it takes some 20 ms
		t.Error("that is too long")
	}
}

// FuzzWalk: whatever a client sends, a walk ends, and the same request gets the same answer.
func FuzzWalk(f *testing.F) {
	bootstrap, err := os.ReadFile("../../testdata/walk/edge.yaml")
	if err != nil {
		f.Fatal(err)
	}
	w := walker(f, string(bootstrap))
	f.Add("GET", "shop.example.com", "/cart/../%2e%2E/x?y", "x-beta", "yes", "1.1", "shop.example.com")
	f.Add("CONNECT", "[::1]:443", "http://u@h:1/p#f", "upgrade", "websocket", "2", "ADMIN.example.com")
	f.Fuzz(func(t *testing.T, method, host, path, name, value, version, sni string) {
		r := &walk.Request{Method: method, Authority: &host, Path: &path, Headers: []walk.Header{{name, value}}, HTTP: version, TLS: sni != "", SNI: sni}
		if method == "CONNECT" {
			r.Path = nil
		}
		a, err := w.Walk(r)
		b, again := w.Walk(r)
		if (err == nil) != (again == nil) || !reflect.DeepEqual(a, b) {
			t.Errorf("%v, %v, then %v, %v", a, err, b, again)
		}
		if err == nil {
			_ = a.Redacted().Text(io.Discard, r)
		}
	})
}

// TestListeners: a listener is chosen by its name or port, and one that redirects connections needs to know where they go.
func TestListeners(t *testing.T) {
	const chain = `filter_chains: [{filters: [{name: http, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager, stat_prefix: in, route_config: {virtual_hosts: [{name: all, domains: ["*"], routes: [{name: hello, match: {prefix: /}, direct_response: {status: 204}}]}]}}}]}]`
	w := walker(t, `
static_resources:
  listeners:
  - {name: quic, address: {socket_address: {protocol: UDP, address: 0.0.0.0, port_value: 443}}, udp_listener_config: {}, `+chain+`}
  - {name: edge, address: {socket_address: {address: 0.0.0.0, port_value: 443}}, additional_addresses: [{address: {socket_address: {address: "::", port_value: 8443}}}], `+chain+`}
  - {name: outbound, use_original_dst: true, address: {socket_address: {address: 127.0.0.1, port_value: 15001}}, `+chain+`}
  - {name: cart, bind_to_port: false, address: {socket_address: {address: 10.96.0.7, port_value: 8080}}, `+chain+`}
  - {name: any, bind_to_port: false, address: {socket_address: {address: 0.0.0.0, port_value: 8080}}, `+chain+`}
  - {name: inside, internal_listener: {}, `+chain+`}
`)
	for _, test := range []struct {
		listener    walk.Listener
		destination string
		want        string // the name of the listener; empty: an error, since none or several fit
		unknown     bool
	}{
		{walk.Listener{Port: 443}, "", "edge", false},
		{walk.Listener{Port: 8443}, "", "edge", false},
		{walk.Listener{Name: "quic"}, "", "quic", false},
		{walk.Listener{Name: "inside"}, "", "inside", false},
		{walk.Listener{Port: 8080}, "", "", false},
		{walk.Listener{}, "", "", false},
		{walk.Listener{Name: "cart", Port: 8080}, "", "cart", false},
		{walk.Listener{Port: 15001}, "", "outbound", true},
		{walk.Listener{Port: 15001}, "10.96.0.7:8080", "cart", false},
		{walk.Listener{Port: 15001}, "10.96.0.8:8080", "any", false},
		{walk.Listener{Port: 15001}, "10.96.0.8:9090", "outbound", false},
	} {
		r := get("/")
		r.Listener, r.Destination = test.listener, test.destination
		a, err := w.Walk(r)
		if test.want == "" {
			if err == nil {
				t.Errorf("%v: %s", test.listener, a.Listener)
			}
			continue
		}
		if err != nil || a.Listener != test.want || (a.Unknown["chain"] != "") != test.unknown {
			t.Errorf("%v to %q: %+v, %v; want %s", test.listener, test.destination, a, err, test.want)
		}
	}
}

// TestManyListeners: a walk takes as much with many listeners as with a few.
func TestManyListeners(t *testing.T) {
	allocated := func(listeners int) float64 {
		var all strings.Builder
		all.WriteString("static_resources:\n  listeners:\n")
		for i := range listeners {
			fmt.Fprintf(&all, "  - {name: l%d, address: {socket_address: {address: 127.0.0.1, port_value: %d}}, filter_chains: [{}]}\n", i, 80+i)
		}
		w := walker(t, all.String())
		byName, byPort := get("/"), get("/")
		byName.Listener, byPort.Listener = walk.Listener{Name: "l1"}, walk.Listener{Port: 81}
		return testing.AllocsPerRun(10, func() {
			for _, q := range []*walk.Request{byName, byPort} {
				if _, err := w.Walk(q); err != nil {
					t.Error(err)
				}
			}
		})
	}
	// The runtime may allocate too: the limit lies between equal and one more for each listener.
	if few, many := allocated(2), allocated(200); many > few+100 {
		t.Errorf("%v allocations, and with a few listeners %v", many, few)
	}
}

// TestImpliedTLS: a request that says something of the handshake is TLS, and of one without, the answer says what it lacks.
func TestImpliedTLS(t *testing.T) {
	text, err := os.ReadFile("../../testdata/walk/edge.yaml")
	if err != nil {
		t.Fatal(err)
	}
	w := walker(t, string(text))
	plain, secure := get("/"), get("/")
	secure.SNI = "shop.example.com"
	for r, closed := range map[*walk.Request]bool{plain: true, secure: false} {
		a, err := w.Walk(r)
		if err != nil || (a.Closed != "") != closed || r.TLS {
			t.Errorf("SNI %q: %q, %v", r.SNI, a.Closed, err)
		}
	}
}
