package xdslint_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/xdslint/xdslint"
)

// reach are the rules that compare routes, domains or filter chains with each other.
var reach = []string{
	"route/unreachable-route", "route/match-never", "route/redirect-loop", "route/dead-wildcard", "route/domain-*", "route/apex-not-covered",
	"route/https-redirect-port", "route/regex-not-full-match",
	"listener/sni-without-tls-inspector", "listener/alpn-without-inspector", "listener/ignored-chain-match", "listener/proxy-protocol-order",
	"listener/no-catch-all-chain", "listener/tls-without-h2-alpn", "listener/unbound", "listener/destination-port-never", "listener/ipv6-only",
}

// large are a virtual host with many routes, and a listener with many filter chains. A rule that compares them in pairs takes minutes.
var large = map[string]func(n int) string{
	"routes with prefixes": func(n int) string {
		return routes(n, func(i int) string { return fmt.Sprintf("match: {prefix: /tenants/%d/}", i) })
	},
	"routes with headers": func(n int) string {
		return routes(n, func(i int) string {
			return fmt.Sprintf("match: {prefix: /, headers: [{name: x-tenant, string_match: {prefix: tenant-%d-}}]}", i)
		})
	},
	"regular expressions before paths": func(n int) string {
		return routes(n, func(i int) string {
			if i < n/2 {
				return fmt.Sprintf("match: {safe_regex: {regex: \"/tenants/[a-z]+/%d\"}}", i)
			}
			return fmt.Sprintf("match: {path: /tenants/%d}", i)
		})
	},
	"redirects": func(n int) string {
		return routes(n, func(i int) string {
			return fmt.Sprintf("match: {prefix: /t/%d/}, redirect: {path_redirect: /t/%[1]d/new}", i)
		})
	},
	"filter chains": func(n int) string {
		return chains(n, func(i int) string { return fmt.Sprintf("server_names: [tenant-%d.example.com]", i) })
	},
	"filter chains without an inspector": func(n int) string {
		return strings.Replace(chains(n, func(i int) string { return fmt.Sprintf("source_ports: [%d], destination_port: %[1]d", i+1) }), "listener_filters", "#", 1)
	},
}

func routes(n int, match func(i int) string) string {
	var out strings.Builder
	out.WriteString("\"@type\": type.googleapis.com/envoy.config.listener.v3.Listener\nname: l\naddress: {socket_address: {address: 0.0.0.0, port_value: 70}}\n" +
		"filter_chains:\n- filters:\n  - name: h\n    typed_config:\n" +
		"      \"@type\": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager\n" +
		"      stat_prefix: h\n      route_config:\n        virtual_hosts:\n        - name: v\n          domains: [\"*\"]\n          routes:\n")
	for i := range n {
		action := match(i)
		if !strings.Contains(action, "redirect:") {
			action += ", direct_response: {status: 200}"
		}
		fmt.Fprintf(&out, "          - {%s}\n", action)
	}
	return out.String()
}

func chains(n int, match func(i int) string) string {
	var out strings.Builder
	out.WriteString("\"@type\": type.googleapis.com/envoy.config.listener.v3.Listener\nname: l\naddress: {socket_address: {address: 0.0.0.0, port_value: 70}}\n" +
		"listener_filters: [{name: t, typed_config: {\"@type\": type.googleapis.com/envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector}}]\nfilter_chains:\n")
	for i := range n {
		fmt.Fprintf(&out, "- {filter_chain_match: {%s}, filters: [{name: f, typed_config: {"+
			"\"@type\": type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy, stat_prefix: t, cluster: c}}]}\n", match(i))
	}
	return out.String()
}

// TestReach: the rules that compare routes or filter chains take a few times as long as all others together, for 10,000 routes in one virtual host, or
// 8,000 filter chains in one listener. Comparing them in pairs would take hundreds of times as long.
func TestReach(t *testing.T) {
	for name, text := range large {
		n := 10_000
		if strings.Contains(name, "chains") {
			n = 8000
		}
		if testing.Short() {
			n /= 5
		}
		input := xdslint.Texts(map[string][]byte{"a.yaml": []byte(text(n))})
		judge := func(options xdslint.Options) func() {
			linter, err := xdslint.New(options)
			if err != nil {
				t.Fatal(err)
			}
			return func() {
				if _, err := linter.Lint(t.Context(), input); err != nil {
					t.Fatal(err)
				}
			}
		}
		slower(t, fmt.Sprintf("%d %s", n, name), 8, judge(xdslint.Options{}), judge(xdslint.Options{Ignore: reach}))
	}
}
