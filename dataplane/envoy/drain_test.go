package envoy

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
)

const (
	chainA    = `{name: a, filter_chain_match: {server_names: [a.example]}, filters: [{name: tcp, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy, stat_prefix: a, cluster: a}}]}`
	chainB    = `{filter_chain_match: {server_names: [b.example]}, filters: [{name: tcp, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy, stat_prefix: b, cluster: b}}]}`
	inspector = `{name: tls, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector}}`
	verbose   = `{name: tls, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector, enable_ja3_fingerprinting: false}}`
	sniffer   = `{name: http, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.listener.http_inspector.v3.HttpInspector}}`
)

func listener(t *testing.T, body string) *graph.Snapshot {
	t.Helper()
	text := "- '@type': type.googleapis.com/envoy.config.listener.v3.Listener\n  name: l\n  " + strings.ReplaceAll(body, "; ", "\n  ") + "\n"
	if body == "" {
		none := new(graph.Snapshot)
		none.Build()
		return none
	}
	path := filepath.Join(t.TempDir(), "l.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := load.Paths(t.Context(), []string{path}, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(in.Snapshots) != 1 {
		t.Fatalf("%s\nmakes %d snapshots", text, len(in.Snapshots))
	}
	for _, r := range in.Snapshots[0].Resources {
		for _, problem := range r.Problems {
			t.Fatalf("%s\n%s: %s", text, problem.Path, problem.Message)
		}
	}
	return in.Snapshots[0]
}

// The expectations were measured on Envoy 1.40: its counters listener_in_place_updated and listener_modified, and open connections.
func TestDrainOf(t *testing.T) {
	for _, c := range []struct{ name, before, after, want string }{
		{"removed", "filter_chains: [" + chainA + "]", "", "all: "},
		{"chain changes", "filter_chains: [" + chainA + ", " + chainB + "]", "filter_chains: [" + chainA + "]", "filter_chains[1]"},
		{"chain is added", "filter_chains: [" + chainA + "]", "filter_chains: [" + chainB + ", " + chainA + "]", ""},
		{"default chain is removed", "filter_chains: [" + chainA + "]; default_filter_chain: " + chainB, "filter_chains: [" + chainA + "]", "default_filter_chain"},
		{"default chain alone", "default_filter_chain: " + chainA, "default_filter_chain: " + chainB, "all: default_filter_chain"},
		{"another field", "filter_chains: [" + chainA + "]", "filter_chains: [" + chainA + "]; per_connection_buffer_limit_bytes: 1024", "all: per_connection_buffer_limit_bytes"},
		{
			"order and defaults", "listener_filters: [" + inspector + ", " + sniffer + "]; filter_chains: [" + chainA + "]",
			"listener_filters: [" + sniffer + ", " + verbose + "]; transparent: false; filter_chains: [" + chainB + "]", "filter_chains[0]",
		},
		{
			"another listener filter", "listener_filters: [" + inspector + "]; filter_chains: [" + chainA + "]",
			"listener_filters: [" + sniffer + "]; filter_chains: [" + chainA + "]", "all: listener_filters",
		},
		{"reuse port spelt out", "filter_chains: [" + chainA + "]", "filter_chains: [" + chainA + "]; enable_reuse_port: true", "all: enable_reuse_port"},
		{"rejected", "filter_chains: [" + chainA + "]", "filter_chains: [" + chainB + "]; enable_reuse_port: false", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			changes := graph.Diff(listener(t, c.before), listener(t, c.after))
			if len(changes.All) != 1 {
				t.Fatalf("%d changes", len(changes.All))
			}
			d := DrainOf(changes.All[0])
			got := ""
			if d.All {
				got = "all: " + d.Why
			}
			for _, chain := range d.Chains {
				got += chain.Path.String()
			}
			if got != c.want || d.None() != (c.want == "") {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestCovers(t *testing.T) {
	before := listener(t, "filter_chains: ["+chainA+", "+chainB+"]")
	change := graph.Diff(before, listener(t, "filter_chains: ["+chainA+"]")).All[0]
	covered := map[string]bool{}
	for _, e := range before.References() {
		covered[e.Target] = DrainOf(change).Covers(e.Path)
	}
	if want := "map[a:false b:true]"; fmt.Sprint(covered) != want {
		t.Errorf("got %v, want %s", covered, want)
	}
}
