package transition_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/transition"
)

// findings runs one rule between two texts and returns its findings as "SEVERITY: MESSAGE".
func findings(t *testing.T, rule, before, after string, push lint.Push) (all []string) {
	t.Helper()
	var rules []*lint.Rule
	for _, r := range transition.Rules.Rules() {
		if r.Name == rule {
			rules = append(rules, r)
		}
	}
	changes := graph.Diff(snapshot(t, before, graph.Assumptions{}), snapshot(t, after, graph.Assumptions{}))
	result := lint.Run(t.Context(), []*graph.Snapshot{changes.New}, lint.Config{
		Rules: rules, Transition: &lint.Transition{Changes: changes, Push: push},
	})
	for _, d := range result.Diagnostics {
		all = append(all, d.Severity.String()+": "+d.Message)
	}
	return all
}

// listenersAt makes listeners from "name address:port more fields".
func listenersAt(specs ...string) (text string) {
	for _, spec := range specs {
		name, rest, _ := strings.Cut(spec, " ")
		socket, more, _ := strings.Cut(rest, " ")
		ip, port, _ := strings.Cut(socket, ":")
		text += fmt.Sprintf(`
- {"@type": type.googleapis.com/envoy.config.listener.v3.Listener, name: %s, address: {socket_address: {address: %s, port_value: %s}}, filter_chains: [{}], %s}`, name, ip, port, more)
	}
	return text
}

func TestListenerPushes(t *testing.T) {
	const more = "additional_addresses: [{address: {socket_address: {address: 10.0.0.1, port_value: 81}}}]"
	for _, c := range []struct {
		name, rule  string
		before, now []string
		want        []string
	}{
		{
			"the order decides", "address-takeover",
			[]string{"a 10.0.0.1:80"},
			[]string{"a 10.0.0.1:81", "b 10.0.0.1:80"},
			[]string{`warning: listener "b" takes 10.0.0.1:80, which "a" leaves only in the same push`},
		},
		{
			"a circle of three", "address-takeover",
			[]string{"a 10.0.0.1:80", "b 10.0.0.1:81", "c 10.0.0.1:82"},
			[]string{"a 10.0.0.1:81", "b 10.0.0.1:82", "c 10.0.0.1:80"},
			[]string{`error: listeners "a", "b" and "c" exchange their addresses, which Envoy rejects`},
		},
		{"renamed", "address-takeover", []string{"a 10.0.0.1:80"}, []string{"b 10.0.0.1:80"}, nil},
		{"both want it", "address-takeover", []string{"a 10.0.0.1:80"}, []string{"a 10.0.0.1:80", "b 10.0.0.1:80"}, nil},
		{"any port", "address-takeover", []string{"a 10.0.0.1:0"}, []string{"b 10.0.0.1:0"}, nil},
		{"moved", "listener-moved", []string{"a 10.0.0.1:80"}, []string{"a 10.0.0.1:81"}, []string{`warning: listener "a" moves from 10.0.0.1:80 to 10.0.0.1:81`}},
		{"moved, and another comes", "listener-moved", []string{"a 10.0.0.1:80"}, []string{"a 10.0.0.1:81", "b 10.0.0.1:80"}, nil},
		{"to all addresses", "listener-moved", []string{"a 10.0.0.1:80"}, []string{"a 0.0.0.0:80"}, nil},
		{"from all addresses", "listener-moved", []string{"a 0.0.0.0:80"}, []string{"a 10.0.0.1:80"}, []string{`warning: listener "a" moves from 0.0.0.0:80 to 10.0.0.1:80`}},
		{"without a socket", "listener-moved", []string{"a 10.0.0.1:80 bind_to_port: false"}, []string{"a 10.0.0.1:81 bind_to_port: false"}, nil},
		{"one address less", "listener-moved", []string{"a 10.0.0.1:80 " + more}, []string{"a 10.0.0.1:80"}, []string{`warning: listener "a" moves from 10.0.0.1:81 to 10.0.0.1:80`}},
		{
			"one address more", "listener-full-drain",
			[]string{"a 10.0.0.1:80"},
			[]string{"a 10.0.0.1:80 " + more},
			[]string{`warning: additional_addresses changes, so Envoy replaces listener "a": all its connections drain`},
		},
		{"one address more, bound once", "listener-full-drain", []string{"a 10.0.0.1:80 enable_reuse_port: false"}, []string{"a 10.0.0.1:80 enable_reuse_port: false, " + more}, nil},
		{
			"one address more, bound once, is rejected", "reuse-port-flip",
			[]string{"a 10.0.0.1:80 enable_reuse_port: false"},
			[]string{"a 10.0.0.1:80 enable_reuse_port: false, " + more},
			[]string{`error: listener "a" needs new sockets, but without enable_reuse_port its address cannot be bound twice`},
		},
		{"reuse_port spelt out", "reuse-port-flip", []string{"a 10.0.0.1:80"}, []string{"a 10.0.0.1:80 enable_reuse_port: true"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, findings(t, c.rule, listenersAt(c.before...), listenersAt(c.now...), lint.Push{})); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// A TTL has another effect on each transport; each was tested on the real Envoy.
func TestTimesToLive(t *testing.T) {
	const text = `
version_info: "1"
resources:
- {"@type": type.googleapis.com/envoy.service.discovery.v3.Resource, name: x, ttl: 60s, resource: {"@type": type.googleapis.com/%s: x}}`
	for kind, want := range map[string]map[lint.Transport]string{
		`envoy.config.endpoint.v3.ClusterLoadAssignment, cluster_name`: {lint.ADSSotW: "error"},
		`envoy.config.route.v3.ScopedRouteConfiguration, name`:         {lint.ADSSotW: "error"},
		`envoy.extensions.transport_sockets.tls.v3.Secret, name`:       {lint.ADSSotW: "error"},
		`envoy.config.core.v3.TypedExtensionConfig, name`:              {lint.ADSSotW: "info"},
		`envoy.config.cluster.v3.Cluster, name`:                        {lint.ADSSotW: "info", lint.SotW: "info"},
	} {
		for _, transport := range lint.Transports {
			after := fmt.Sprintf(text, kind)
			got := findings(t, "ttl-crash", "", after, lint.Push{Transport: transport})
			severity := ""
			for _, finding := range got {
				severity, _, _ = strings.Cut(finding, ":")
			}
			if severity != want[transport] || len(got) > 1 {
				t.Errorf("%s over %s: got %q, want %s", kind, transport, got, want[transport])
			}
		}
	}
}

// In state-of-the-world xDS, a version belongs to a type; in delta xDS, to a resource.
func TestVersions(t *testing.T) {
	response := func(version string, names ...string) (text string) {
		text = "version_info: '" + version + "'\ntype_url: type.googleapis.com/envoy.config.cluster.v3.Cluster\nresources:"
		for _, name := range names {
			name, timeout, _ := strings.Cut(name, " ")
			text += fmt.Sprintf("\n- {'@type': type.googleapis.com/envoy.config.cluster.v3.Cluster, name: %s, connect_timeout: %ss}", name, timeout)
		}
		return text
	}
	before := response("1", "a 1", "b 1")
	for _, c := range []struct {
		name, after string
		transport   lint.Transport
		want        []string
	}{
		{"changed", response("1", "a 2", "b 2"), lint.ADSSotW, []string{`warning: cluster "a" and 1 other change, but the version is still "1"`}},
		{"changed, delta", response("1", "a 2", "b 1"), lint.ADSDelta, []string{`warning: cluster "a" changes, but the version is still "1"`}},
		{"new", response("1", "a 1", "b 1", "c 1"), lint.ADSSotW, []string{`warning: cluster "c" is new, but the version is still "1"`}},
		{"new, delta", response("1", "a 1", "b 1", "c 1"), lint.ADSDelta, nil},
		{"removed", response("1", "a 1"), lint.SotW, []string{`warning: cluster "b" is removed, but the version is still "1"`}},
		{"new version", response("2", "a 2"), lint.ADSSotW, nil},
		{"nothing but the version", response("2", "a 1", "b 1"), lint.ADSSotW, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, findings(t, "version-not-bumped", before, c.after, lint.Push{Transport: c.transport})); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
