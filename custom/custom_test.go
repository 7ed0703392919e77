package custom_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/xdslint/xdslint/custom"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/config"
	"github.com/xdslint/xdslint/internal/report"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules"
)

// understood reads a configuration with constraints.
func understood(t *testing.T, text string) (*config.Config, string) {
	t.Helper()
	s, err := config.Parse(&source.File{Name: config.FileName, Text: []byte(text)}, rules.All(), custom.Constraints(rules.All(), nil))
	if err != nil {
		return s, err.Error()
	}
	return s, ""
}

// found are the findings of the custom rules in a configuration, one per line.
func found(t *testing.T, config string, texts map[string]string) string {
	t.Helper()
	s, fault := understood(t, config)
	if fault != "" {
		t.Fatal(fault)
	}
	given := map[string][]byte{}
	for name, text := range texts {
		given[name] = []byte(text)
	}
	input, err := load.Texts(t.Context(), given, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	result := lint.Run(t.Context(), input.Snapshots, lint.Config{Rules: s.Custom})
	for _, f := range result.Failures {
		t.Error(f, string(f.Stack))
	}
	var b strings.Builder
	if err := report.Concise(&b, &report.Report{Result: result}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const shop = `static_resources:
  listeners:
  - name: public-https
    address: {socket_address: {address: 0.0.0.0, port_value: 443}}
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: public
          http_filters:
          - name: envoy.filters.http.router
            typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}
          route_config:
            virtual_hosts:
            - name: shop
              domains: ["*"]
              routes:
              - match: {prefix: /cart}
                route: {cluster: cart-web, timeout: 3s}
              - match: {prefix: /}
                route: {cluster: Frontend}
  clusters:
  - name: cart-web
    connect_timeout: 1s
    outlier_detection: {}
    transport_socket:
      name: envoy.transport_sockets.tls
      typed_config:
        "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext
        sni: cart.internal
  - name: Frontend
    connect_timeout: 20s
    metadata: {filter_metadata: {team: {name: web}, audit: {level: 2}}}
`

func TestConstraints(t *testing.T) {
	var got strings.Builder
	for _, test := range []struct{ name, constraint string }{
		{"a message", `{message: envoy.config.cluster.v3.Cluster, expression: "this.name.matches('^[a-z]+-[a-z]+$')", text: named otherwise}`},
		{"a field", `{message: envoy.config.cluster.v3.Cluster, field: name, expression: "this.matches('^[a-z]+-[a-z]+$')", text: named otherwise, severity: warning}`},
		{"a duration", `{message: envoy.config.cluster.v3.Cluster, field: connect_timeout, expression: "this <= duration('5s')", text: slow}`},
		{"nested in an Any", `{message: envoy.config.route.v3.RouteAction, expression: "has(this.timeout)", text: no timeout}`},
		{"a text", `{message: envoy.config.route.v3.RouteAction, expression: "has(this.timeout) ? '' : 'no timeout to ' + this.cluster"}`},
		{"an opened Any", `{message: envoy.config.cluster.v3.Cluster, expression: "has(this.transport_socket.typed_config.sni)", text: no SNI}`},
		{"the type of an Any", `{message: envoy.config.core.v3.TransportSocket, expression: "type(this.typed_config) != envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext", text: TLS}`},
		{"an enum", `{message: envoy.config.cluster.v3.Cluster, expression: "this.type != Cluster.DiscoveryType.STATIC", text: static}`},
		{"an enum as in C++", `{message: envoy.config.cluster.v3.Cluster, expression: "this.type != envoy.config.cluster.v3.Cluster.STATIC", text: static}`},
		{"a map in order", `{message: envoy.config.core.v3.Metadata, expression: "this.filter_metadata.map(k, k).join(',')"}`},
		{"a wrapper", `{message: envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager, expression: "this.use_remote_address == true", text: not at the edge}`},
		{"the graph", `{snapshot: cluster, expression: "!this.reached_by('listener').exists(l, l.name.startsWith('public')) || has(this.message.outlier_detection)", text: public and without outlier detection}`},
		{"the graph around a message", `{message: envoy.config.route.v3.RouteAction, expression: "resource.references.filter(r, r.kind == 'cluster').size() < 2", text: two clusters}`},
		{"the type of an Any that is not there", `{message: envoy.config.core.v3.TransportSocket, expression: "has(this.typed_config.nonesuch)", text: no such field}`},
		{"a reference", `{snapshot: listener, expression: "this.references.all(r, r.kind != 'cluster' || r.to.name == r.name)", text: another name}`},
		{"the whole snapshot", `{snapshot: listener, expression: "snapshot.resources.filter(r, r.kind == 'cluster').size() < 2", text: too many clusters}`},
		{"resources are equal to themselves", `{snapshot: cluster, expression: "snapshot.resources.filter(r, dyn(r) == this).size() != 1", text: one of them is this one}`},
		{"what is not set is empty", `{message: envoy.config.cluster.v3.Cluster, expression: "this.http2_protocol_options.max_concurrent_streams == null && this.load_assignment.endpoints.size() == 0 && this.dns_refresh_rate == duration('0s')", text: x}`},
		{"no value", `{message: envoy.config.cluster.v3.Cluster, expression: "this.metadata.filter_metadata['team'].name == 'web'", text: x}`},
		{"no type before it is evaluated", `{message: envoy.config.cluster.v3.Cluster, expression: "dyn(this.name)", text: x}`},
		{"an invalid regular expression", `{message: envoy.config.cluster.v3.Cluster, expression: "'a'.matches('[' + this.name)", text: x}`},
		{"a name in the graph", `{message: envoy.config.route.v3.RouteAction, expression: "snapshot.find('cluster', this.cluster).all(c, has(c.message.outlier_detection))", text: no outlier detection there}`},
		{"what holds a reference", `{snapshot: cluster, expression: "this.referrers.all(r, has(r.holder.timeout))", text: a route to it has no timeout}`},
		{"an Any that is not there", `{message: envoy.config.cluster.v3.Cluster, expression: "this.transport_socket.typed_config.sni != ''", text: x}`},
		{"a name for a value", `{message: envoy.config.cluster.v3.Cluster, expression: "cel.bind(n, this.name, n == n.lowerAscii())", text: upper case}`},
		{"what cannot be printed", `{message: envoy.config.cluster.v3.Cluster, expression: "'a\\u001b[31m\\u202eb\\nc'"}`},
		{"too much at once", `{message: envoy.config.cluster.v3.Cluster, expression: "[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10].all(c, [1,2,3,4,5,6,7,8,9,10].all(d, [1,2,3,4,5,6,7,8,9,10].all(e, a+b+c+d+e < 99)))))", text: x}`},
		{"an empty message", `{message: envoy.config.cluster.v3.Cluster, expression: "envoy.config.core.v3.RoutingPriority.HIGH == 1 && this.original_dst_lb_config == this.original_dst_lb_config", text: x}`},
		{"as far as the graph is", `{snapshot: cluster, expression: "[this.referrers.map(r, r.from.name)[0], snapshot.references.size() > 1 ? snapshot.references[1].name : '', snapshot.resources[0].kind, this.referrers.exists(r, r == this.referrers[0]) ? 'same' : 'other'].join(',')"}`},
		{"some resources", `{message: envoy.config.cluster.v3.Cluster, resource: cluster/F*, expression: "false", text: begins with F}`},
	} {
		config := "constraints:\n- " + strings.Replace(test.constraint, "{", "{id: acme/rule, ", 1) + "\n"
		fmt.Fprintf(&got, "== %s\n%s--\n%s\n", test.name, config, found(t, config, map[string]string{"envoy.yaml": shop}))
	}
	golden(t, "constraints.txt", got.String())
}

var update = flag.Bool("update", false, "write testdata")

// golden compares with a file under testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Error(diff)
	}
}

// TestSecrets: the message of an expression, or of its error, can quote what it has read. Reports do not show it.
func TestSecrets(t *testing.T) {
	const password = "[hunter-two"
	texts := map[string]string{
		"secret.yaml": "\"@type\": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret\nname: token\n" +
			"generic_secret: {secret: {inline_string: \"" + password + "\"}}\n",
		"cluster.yaml": "\"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: shop\n",
	}
	for _, expression := range []string{
		"resource.message.generic_secret.secret.inline_string",
		"'x'.matches(this.message.generic_secret.secret.inline_string)",
		"{'a': true}[this.message.generic_secret.secret.inline_string]",
	} {
		config := fmt.Sprintf("constraints:\n- {id: acme/rule, snapshot: secret, expression: %q, text: x}\n", expression)
		if got := found(t, config, texts); !strings.Contains(got, "[secret]") || strings.Contains(got, "hunter") {
			t.Errorf("%s: %s", expression, got)
		}
	}
	const elsewhere = "constraints:\n- {id: acme/rule, snapshot: cluster, expression: \"snapshot.find('secret', 'token')[0].message.generic_secret.secret.inline_string\", text: x}\n"
	if got := found(t, elsewhere, texts); !strings.Contains(got, "[secret]") || strings.Contains(got, "hunter") {
		t.Error(got)
	}
}

// FuzzExpression: any expression is a fault, judges, or cannot judge, but never panics.
func FuzzExpression(f *testing.F) {
	for _, seed := range []string{
		"this.name == ''", "has(this.transport_socket.typed_config.sni)", "this.metadata.filter_metadata.map(k, k)[0] == 'x'", "resource.references[0].to.message.name",
		"snapshot.find('cluster', this.name).all(c, c.reached_by('listener').size() > 0)", "cel.bind(a, this, a.name)", "type(this) == Cluster", "[this, resource, snapshot] == []",
		"this.load_assignment.endpoints.map(e, e.lb_endpoints)", "dyn(snapshot).resources[0].file", "string(this.connect_timeout)", "this.typed_extension_protocol_options['a']",
		"this.load_balancing_policy.policies[0].typed_extension_config.typed_config == this", "resource == resource ? '' : 'x'", "this.lb_subset_config.default_subset.fields['a'].number_value > 1.0",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, expression string) {
		config := fmt.Sprintf("constraints:\n- {id: acme/rule, message: envoy.config.cluster.v3.Cluster, text: x, expression: %q}\n", expression)
		s, fault := understood(t, config)
		if fault != "" {
			return
		}
		input, err := load.Texts(t.Context(), map[string][]byte{"envoy.yaml": []byte(shop)}, load.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, failed := range lint.Run(t.Context(), input.Snapshots, lint.Config{Rules: s.Custom}).Failures {
			t.Errorf("%s\n%s", failed, failed.Stack)
		}
	})
}

// TestLargeSnapshot: following references has a cost, even if nothing is found.
func TestLargeSnapshot(t *testing.T) {
	var text strings.Builder
	text.WriteString("static_resources:\n  clusters:\n")
	for i := range 2_000 {
		fmt.Fprintf(&text, "  - name: c%d\n", i)
	}
	text.WriteString("  listeners:\n  - name: public\n    filter_chains:\n    - filters:\n      - name: tcp\n        typed_config:\n" +
		"          \"@type\": type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy\n          weighted_clusters:\n            clusters:\n")
	for i := range 2_000 {
		fmt.Fprintf(&text, "            - {name: c%d, weight: 1}\n", i)
	}
	envoy := map[string]string{"envoy.yaml": text.String()}
	const constraint = "constraints:\n- {id: acme/rule, message: envoy.config.cluster.v3.Cluster, text: x, expression: %q}\n"
	if got := found(t, fmt.Sprintf(constraint, "snapshot.references.size() == 2000 && snapshot.resources.size() > 2000"), envoy); got != "" {
		t.Error(got)
	}
	const roundTrips = "[1,2,3,4,5,6,7,8,9].all(a, [1,2,3,4,5,6,7,8,9].all(b, [1,2,3,4,5,6,7,8,9].all(c, " +
		"resource.reached_by('listener')[0].reaches('secret').size() == 0)))"
	if got := found(t, fmt.Sprintf(constraint, roundTrips), envoy); !strings.Contains(got, "costs more than 1 million steps") {
		t.Error("nothing is paid:", got)
	}
}

// TestConstraintsShareTheBudget: two hundred constraints together may cost what one may alone.
func TestConstraintsShareTheBudget(t *testing.T) {
	var text, config strings.Builder
	text.WriteString("static_resources:\n  clusters:\n")
	for i := range 600 {
		fmt.Fprintf(&text, "  - name: c%d\n", i)
	}
	config.WriteString("constraints:\n- {id: acme/dear, snapshot: cluster, text: x, expression: \"snapshot.resources.all(r, r.name != 'c')\"}\n")
	envoy := map[string]string{"envoy.yaml": text.String()}
	if got := found(t, config.String(), envoy); got != "" {
		t.Error(got)
	}
	for i := range 199 {
		fmt.Fprintf(&config, "- {id: acme/other%d, snapshot: listener, text: x, expression: \"this.name == ''\"}\n", i)
	}
	want := "constraint acme/dear costs more than 1 million steps in all\n"
	if got := found(t, config.String(), envoy); !strings.Contains(got, want) {
		t.Errorf("%s\nwant %s", got, want)
	}
}
