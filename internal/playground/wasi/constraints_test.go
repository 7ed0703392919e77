package main_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/xdslint/xdslint/internal/config"
)

// constraints are some that find something, some that do not compile, and some that fail; `this` is a cluster.
var constraints = []struct{ about, kind, expression string }{
	{"a message", "message: envoy.config.cluster.v3.Cluster", "this.name.matches('^[a-z]+-[a-z]+$') && this.connect_timeout < duration('500ms')"},
	{"a text", "message: envoy.config.cluster.v3.Cluster", "'name: ' + this.name + (has(this.eds_cluster_config) ? ', EDS' : '')"},
	{"within an Any", "message: envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", "this.http_filters.map(f, f.name).join(', ')"},
	{"a map", "message: envoy.config.cluster.v3.Cluster", "this.typed_extension_protocol_options.map(k, k).join(', ')"},
	{"a resource", "snapshot: cluster", "this.referrers.map(r, r.from.kind + ' ' + r.from.name).join(', ')"},
	{"what leads there", "snapshot: cluster", "this.reached_by('listener').map(l, l.name).join(', ')"},
	{"where it leads", "snapshot: listener", "this.reaches('cluster').map(c, c.name).join(', ')"},
	{"the whole snapshot", "snapshot: cluster", "snapshot.resources.map(r, r.kind + ' ' + r.name).join(', ')"},
	{"no CEL", "message: envoy.config.cluster.v3.Cluster", "this.name == "},
	{"no such field", "message: envoy.config.cluster.v3.Cluster", "this.nme != ''"},
	{"no such function", "snapshot: cluster", "this.reach('listener') == []"},
	{"no such kind", "snapshot: cluster", "this.reaches('clutser') == []"},
	{"the wrong type", "message: envoy.config.cluster.v3.Cluster", "this.name + 1 == 2"},
	{"no regular expression", "message: envoy.config.cluster.v3.Cluster", "this.name.matches('[')"},
	{"no such message", "message: envoy.config.cluster.v3.Clutser", "true"},
	{"the clock", "message: envoy.config.cluster.v3.Cluster", "now > timestamp('2020-01-01T00:00:00Z')"},
	{"no value", "message: envoy.config.cluster.v3.Cluster", "this.load_assignment.endpoints[99].priority == 0u"},
	{"too much", "message: envoy.config.cluster.v3.Cluster", fmt.Sprintf("[%[1]s].all(a, [%[1]s].all(b, [%[1]s].all(c, [%[1]s].all(d, a + b + c + d >= 0))))", strings.Repeat("1, ", 39)+"1")},
}

// aboutCustomRules returns questions about a configuration with each of the constraints, and about the playground's example.
func aboutCustomRules(t *testing.T) (all []question) {
	snapshot := read(t, "snapshots/storefront")
	for i, c := range constraints {
		id := fmt.Sprintf("acme/rule-%d", i)
		files := texts{config.FileName: fmt.Sprintf("constraints:\n- id: %s\n  %s\n  expression: %q\n  text: it is not so\n", id, c.kind, c.expression)}
		for name, text := range snapshot {
			files[name] = text
		}
		all = append(all, ask("constraint: "+c.about, "lint", fields{"files": files}))
	}

	const examples = "../../../web/src/examples/configurations/custom-rules"
	files := texts{}
	for name, suffix := range map[string]string{config.FileName: ".xdslint.yaml", "envoy.yaml": ".yaml"} {
		text, err := os.ReadFile(examples + suffix)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(text)
	}
	all = append(all, ask("custom rules", "explain", fields{"rule": "shop/route-timeout", "files": files}))
	return append(all, aboutOne("custom rules", files, nil)...)
}
