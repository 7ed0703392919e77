package prove_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/prove"
)

// managed puts routes into a bootstrap.
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
          route_config:
            virtual_hosts:
            - name: shop
              domains: [shop.example.com]
              routes:
%s
          http_filters:
          - {name: router, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}
  clusters:
  - {name: shop, connect_timeout: 1s, load_assignment: {cluster_name: shop, endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: 81}}}}]}]}}
  - {name: shop-copy, connect_timeout: 1s, load_assignment: {cluster_name: shop-copy, endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: 81}}}}]}]}}
  - {name: cart, connect_timeout: 1s, load_assignment: {cluster_name: cart, endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: 82}}}}]}]}}
`

func snapshot(t *testing.T, bootstrap string) *graph.Snapshot {
	t.Helper()
	in, err := load.Texts(t.Context(), map[string][]byte{"envoy.yaml": []byte(bootstrap)}, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := in.One("envoy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestRoutes compares lists of routes. What it expects is "alike", the paths of the requests that tell the lists apart, or a part of what is undecided.
func TestRoutes(t *testing.T) {
	tests := map[string]struct {
		old, now []string
		options  prove.Options
		expects  string
	}{
		"routes that do not meet can be swapped": {
			old: []string{"{match: {prefix: /a}, route: {cluster: shop}}", "{match: {path: /b}, route: {cluster: cart}}"},
			now: []string{"{match: {path: /b}, route: {cluster: cart}}", "{match: {prefix: /a}, route: {cluster: shop}}"}, expects: "alike",
		},
		"routes that meet cannot": {
			old: []string{"{match: {prefix: /a}, route: {cluster: shop}}", "{match: {path: /ab}, route: {cluster: cart}}"},
			now: []string{"{match: {path: /ab}, route: {cluster: cart}}", "{match: {prefix: /a}, route: {cluster: shop}}"}, expects: "/ab",
		},
		"a prefix that other routes cover together": {
			old: []string{"{match: {prefix: /}, route: {cluster: shop}}"},
			now: []string{"{match: {path: /}, route: {cluster: shop}}", "{match: {prefix: /a}, route: {cluster: shop}}", "{match: {prefix: /}, route: {cluster: shop}}"}, expects: "alike",
		},
		"a header can have two values": {
			old: []string{
				"{match: {prefix: /, headers: [{name: x-a, string_match: {exact: one}}]}, route: {cluster: shop}}",
				"{match: {prefix: /, headers: [{name: x-a, string_match: {exact: two}}]}, route: {cluster: cart}}",
			},
			now: []string{
				"{match: {prefix: /, headers: [{name: x-a, string_match: {exact: two}}]}, route: {cluster: cart}}",
				"{match: {prefix: /, headers: [{name: x-a, string_match: {exact: one}}]}, route: {cluster: shop}}",
			}, expects: "/",
		},
		"a parameter has one": {
			old: []string{
				"{match: {prefix: /, query_parameters: [{name: a, string_match: {exact: one}}]}, route: {cluster: shop}}",
				"{match: {prefix: /, query_parameters: [{name: a, string_match: {exact: two}}]}, route: {cluster: cart}}",
			},
			now: []string{
				"{match: {prefix: /, query_parameters: [{name: a, string_match: {exact: two}}]}, route: {cluster: cart}}",
				"{match: {prefix: /, query_parameters: [{name: a, string_match: {exact: one}}]}, route: {cluster: shop}}",
			}, expects: "alike",
		},
		"a header that is present or not": {
			old: []string{"{match: {prefix: /}, route: {cluster: shop}}"},
			now: []string{
				"{match: {prefix: /, headers: [{name: x-a, present_match: true}]}, route: {cluster: shop}}",
				"{match: {prefix: /, headers: [{name: x-a, present_match: false}]}, route: {cluster: shop}}",
			}, expects: "alike",
		},
		"a regular expression after a route that covers it": {
			old: []string{"{match: {prefix: /a/}, route: {cluster: shop}}", `{match: {safe_regex: {regex: "/a/[0-9]+"}}, route: {cluster: cart}}`},
			now: []string{"{match: {prefix: /a/}, route: {cluster: shop}}"}, expects: "alike",
		},
		"a regular expression": {
			old: []string{`{match: {safe_regex: {regex: "/a/[0-9]+"}}, route: {cluster: cart}}`},
			now: []string{`{match: {safe_regex: {regex: "/a/[0-7]+"}}, route: {cluster: cart}}`}, expects: "/a/9",
		},
		"two regular expressions that mean the same": {
			old: []string{`{match: {safe_regex: {regex: "/a/(b|c)"}}, route: {cluster: cart}}`},
			now: []string{`{match: {safe_regex: {regex: "/a/[bc]"}}, route: {cluster: cart}}`}, expects: "whether a request takes",
		},
		"the names of routes": {
			old: []string{"{name: a, match: {prefix: /}, route: {cluster: shop}}"}, now: []string{"{name: b, match: {prefix: /}, route: {cluster: shop}}"}, expects: "alike",
		},
		"a name that a header shows": {
			old:     []string{`{name: a, match: {prefix: /}, route: {cluster: shop}, request_headers_to_add: [{header: {key: x-r, value: "%ROUTE_NAME%"}}]}`},
			now:     []string{`{name: b, match: {prefix: /}, route: {cluster: shop}, request_headers_to_add: [{header: {key: x-r, value: "%ROUTE_NAME%"}}]}`},
			expects: "/",
		},
		"a timeout": {
			old: []string{"{match: {prefix: /}, route: {cluster: shop, timeout: 3s}}"}, now: []string{"{match: {prefix: /}, route: {cluster: shop, timeout: 4s}}"},
			expects: "route.timeout differs",
		},
		"a cluster with the same endpoints": {
			old: []string{"{match: {prefix: /}, route: {cluster: shop}}"}, now: []string{"{match: {prefix: /}, route: {cluster: shop-copy}}"}, expects: "/",
		},
		"a cluster with the same endpoints, by endpoints": {
			old: []string{"{match: {prefix: /}, route: {cluster: shop}}"}, now: []string{"{match: {prefix: /}, route: {cluster: shop-copy}}"},
			options: prove.Options{ByEndpoints: true}, expects: "alike",
		},
		"a part of the traffic": {
			old:     []string{"{match: {prefix: /, runtime_fraction: {default_value: {numerator: 5}}}, route: {cluster: shop}}", "{match: {prefix: /}, route: {cluster: cart}}"},
			now:     []string{"{match: {prefix: /}, route: {cluster: cart}}"},
			expects: "whether a request takes routes[0] of OLD and routes[0] of NEW",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			routes := func(all []string) string { return "              - " + strings.Join(all, "\n              - ") }
			p := prove.Prove(snapshot(t, fmt.Sprintf(managed, routes(test.old))), snapshot(t, fmt.Sprintf(managed, routes(test.now))), test.options)
			got := strings.Join(p.Undecided, "\n")
			if p.Alike {
				got = "alike"
			}
			if len(p.Differences) > 0 {
				got = *p.Differences[0].Request.Path
			}
			if got != test.expects && (p.Alike || len(p.Differences) > 0 || !strings.Contains(got, test.expects)) {
				t.Errorf("got %q, want %q", got, test.expects)
			}
		})
	}
}

// TestHosts compares what virtual hosts take.
func TestHosts(t *testing.T) {
	old := fmt.Sprintf(managed, "              - {match: {prefix: /}, route: {cluster: shop}}")
	wider := strings.Replace(old, "domains: [shop.example.com]", `domains: ["*.example.com"]`, 1)
	p := prove.Prove(snapshot(t, old), snapshot(t, wider), prove.Options{})
	var hosts []string
	for _, d := range p.Differences {
		hosts = append(hosts, *d.Request.Authority)
	}
	if !slices.Equal(hosts, []string{"any.example.com"}) || len(p.Undecided) > 0 {
		t.Errorf("%v, undecided: %v", hosts, p.Undecided)
	}
}

// TestFilters: a difference is shown with a request that the filters let through. Without such a request, there is no difference.
func TestFilters(t *testing.T) {
	const filter = `
          - name: rbac
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC
              rules: {action: DENY, policies: {inside: {permissions: [{any: true}], principals: [{direct_remote_ip: {address_prefix: %s, prefix_len: %d}}]}}}`
	for _, test := range []struct {
		address string
		length  int
		want    []string // the addresses of clients
	}{{"127.0.0.0", 8, []string{"203.0.113.7"}}, {"0.0.0.0", 0, nil}} {
		old := strings.Replace(managed, "http_filters:", "http_filters:"+fmt.Sprintf(filter, test.address, test.length), 1)
		p := prove.Prove(
			snapshot(t, strings.Replace(old, "%s", "              - {match: {prefix: /}, route: {cluster: shop}}", 1)),
			snapshot(t, strings.Replace(old, "%s", "              - {match: {prefix: /}, route: {cluster: cart}}", 1)), prove.Options{})
		var sources []string
		for _, d := range p.Differences {
			sources = append(sources, d.Request.Source)
		}
		if !slices.Equal(sources, test.want) || p.Alike {
			t.Errorf("%s/%d: differences from %q, not %q", test.address, test.length, sources, test.want)
		}
	}
}
