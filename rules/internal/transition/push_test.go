package transition_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/transition"
)

// Pushes that are not in the archives, since their symptoms on a real Envoy depend on timing or on the user's assumptions.
func TestPush(t *testing.T) {
	listener := func(filters string) string {
		return `
- "@type": type.googleapis.com/envoy.config.listener.v3.Listener
  name: edge
  address: {socket_address: {address: 0.0.0.0, port_value: 8080}}
  filter_chains:
  - filters:
    - name: hcm
      typed_config:
        "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
        stat_prefix: edge
        rds: {route_config_name: shop, config_source: {ads: {}}}
        http_filters: [` + filters + `]`
	}
	routes := func(action string) string {
		return `
- "@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration
  name: shop
  virtual_hosts: [{name: all, domains: ["*"], routes: [{match: {prefix: /}, route: ` + action + `}]}]`
	}
	clusters := func(names ...string) (text string) {
		for _, name := range names {
			text += `
- {"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: ` + name + `, connect_timeout: 1s}`
		}
		return text
	}
	endpoints := func(some string) string {
		return `
- {"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: a, type: STATIC, load_assignment: {cluster_name: a, endpoints: [` + some + `]}}`
	}
	onDemand := `{name: on_demand, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.on_demand.v3.OnDemand, odcds: {source: {ads: {}}}}}`
	limit := func(more string) string {
		return `{name: limit, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.ratelimit.v3.RateLimit, domain: shop` + more +
			`, rate_limit_service: {transport_api_version: V3, grpc_service: {envoy_grpc: {cluster_name: b}}}}}`
	}
	edge, toA, toB := listener(""), routes("{cluster: a}"), routes("{cluster: b}")
	const before, gone = "error transition/route-before-cluster b", "error transition/delete-referenced-cluster a"
	for name, test := range map[string]struct {
		old, new    string
		assumptions graph.Assumptions
		want        []string
	}{
		"the old cluster goes":           {old: edge + toA + clusters("a", "b"), new: edge + toB + clusters("b"), want: []string{gone}},
		"one goes, one comes":            {old: edge + toA + clusters("a"), new: edge + toB + clusters("b"), want: []string{gone, before}},
		"routes without listeners":       {old: toA + clusters("a", "b"), new: toB + clusters("b"), want: []string{gone}},
		"the new cluster is assumed":     {old: edge + toA + clusters("a"), new: edge + toB + clusters("a", "b"), assumptions: graph.Assumptions{Names: []graph.Assumed{{Kind: graph.Cluster, Glob: "b"}}}},
		"more clusters exist":            {old: edge + toA + clusters("a", "b"), new: edge + toB + clusters("b"), assumptions: graph.Assumptions{Open: []graph.Kind{graph.Cluster}}},
		"clusters are fetched on demand": {old: listener(onDemand) + toA + clusters("a"), new: listener(onDemand) + toB + clusters("a", "b")},
		"the route was there before":     {old: edge + toB + clusters("a"), new: edge + toB + clusters("a", "b")},
		"the old cluster loses its endpoints": {
			old: edge + toA + clusters("b") + endpoints("{lb_endpoints: [{}]}"), new: edge + toB + clusters("b") + endpoints(""),
			want: []string{"warning transition/endpoints-emptied a"},
		},
		"the first push":                  {new: edge + toA + clusters("a")},
		"a rate limit that fails open":    {old: edge + toA + clusters("a"), new: listener(limit("")) + toA + clusters("a", "b"), want: []string{"info transition/route-before-cluster b"}},
		"a rate limit that fails closed":  {old: edge + toA + clusters("a"), new: listener(limit(", failure_mode_deny: true")) + toA + clusters("a", "b"), want: []string{before}},
		"a mirror, and another reference": {old: edge + toA + clusters("a"), new: edge + routes("{cluster: b, request_mirror_policies: [{cluster: b}]}") + clusters("a", "b"), want: []string{before}},
	} {
		t.Run(name, func(t *testing.T) {
			changes := graph.Diff(snapshot(t, test.old, test.assumptions), snapshot(t, test.new, test.assumptions))
			result := lint.Run(t.Context(), []*graph.Snapshot{changes.New}, lint.Config{
				Rules: transition.Rules.Rules(), Transition: &lint.Transition{Changes: changes},
			})
			var got []string
			for _, d := range result.Diagnostics {
				if id := d.Rule.ID(); id == "transition/route-before-cluster" || d.Severity > lint.Info {
					_, quoted, _ := strings.Cut(d.Message, `"`)
					named, _, _ := strings.Cut(quoted, `"`)
					got = append(got, d.Severity.String()+" "+id+" "+named)
				}
			}
			slices.Sort(got)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func snapshot(t *testing.T, text string, assumptions graph.Assumptions) *graph.Snapshot {
	t.Helper()
	if text == "" {
		empty := &graph.Snapshot{}
		empty.Build()
		return empty
	}
	input, err := load.Paths(t.Context(), []string{"-"}, load.Options{Stdin: strings.NewReader(text), StdinName: "in.yaml", Assumptions: assumptions})
	if err != nil {
		t.Fatal(err)
	}
	if len(input.Snapshots) != 1 {
		t.Fatalf("%d snapshots", len(input.Snapshots))
	}
	return input.Snapshots[0]
}
