package routetest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/routetest"
)

// TestLargeSet: a set of a large configuration has a bounded number of requests, which still reach each route.
func TestLargeSet(t *testing.T) {
	var table strings.Builder
	table.WriteString("\"@type\": type.googleapis.com/envoy.config.route.v3.RouteConfiguration\nname: all\nvirtual_hosts:\n")
	for host := range 100 {
		fmt.Fprintf(&table, "- name: h%d\n  domains: [h%d.test]\n  routes:\n", host, host)
		for path := range 10 {
			fmt.Fprintf(&table, "  - {match: {prefix: /h%d/%c}, direct_response: {status: 204}}\n", host, 'a'+path)
		}
	}
	in, err := load.Texts(t.Context(), map[string][]byte{"routes.yaml": []byte(table.String()), "listener.yaml": []byte(`
"@type": type.googleapis.com/envoy.config.listener.v3.Listener
name: in
address: {socket_address: {address: 127.0.0.1, port_value: 80}}
filter_chains:
- filters:
  - name: http
    typed_config:
      "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
      stat_prefix: in
      rds: {route_config_name: all, config_source: {ads: {}}}
      http_filters: [{name: router, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}]
`)}, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	snapshot, err := in.One("")
	if err != nil {
		t.Fatal(err)
	}
	report, err := routetest.Run(snapshot, file(t, "tests: [{given: all requests to *, expect: {filters: [router]}}]"))
	if err != nil {
		t.Fatal(err)
	}
	if n := report.Results[0].Requests; n > 400_000 || report.Failed() > 0 {
		t.Errorf("%d requests, %d failed", n, report.Failed())
	}
	for _, c := range report.Coverage {
		if len(c.Missed) > 0 && c.Kind == "route" {
			t.Errorf("%d of %d %ss are not reached, such as %+v", len(c.Missed), c.All, c.Kind, c.Missed[0])
		}
	}
}
