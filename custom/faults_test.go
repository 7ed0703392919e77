package custom_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestFaults(t *testing.T) {
	var got strings.Builder
	const cluster = "message: envoy.config.cluster.v3.Cluster"
	for _, test := range []struct{ name, config string }{
		{"unknown field", "- id: acme/a\n  " + cluster + "\n  expression: this.nam == 'x'\n  text: x"},
		{"unknown field without a similar one", "- id: acme/a\n  message: envoy.config.core.v3.TransportSocket\n  expression: this.sni == 'x'\n  text: x"},
		{"nested field in quotes", "- id: acme/a\n  " + cluster + "\n  expression: \"this.transport_socket.nme == 'x'\"\n  text: x"},
		{"block", "- id: acme/a\n  " + cluster + "\n  expression: |\n    has(this.name) &&\n      this.nam == 'x'\n  text: x"},
		{"folded", "- id: acme/a\n  " + cluster + "\n  expression: >-\n    has(this.name) &&\n    this.nam == 'x'\n  text: x"},
		{"unknown name", "- id: acme/a\n  " + cluster + "\n  expression: self.name == 'x'\n  text: x"},
		{"unknown function", "- id: acme/a\n  " + cluster + "\n  expression: this.name.startWith('x')\n  text: x"},
		{"types", "- id: acme/a\n  " + cluster + "\n  expression: this.name == 3\n  text: x"},
		{"syntax", "- id: acme/a\n  " + cluster + "\n  expression: this.name ==\n  text: x"},
		{"syntax2", "- id: acme/a\n  " + cluster + "\n  expression: \"this.name.matches('^[a-z'\"\n  text: x"},
		{"regex", "- id: acme/a\n  " + cluster + "\n  expression: \"this.name.matches('^[a-z')\"\n  text: x"},
		{"a number", "- id: acme/a\n  " + cluster + "\n  expression: this.name.size()\n  text: x"},
		{"no text", "- id: acme/a\n  " + cluster + "\n  expression: this.name == 'a'"},
		{"now", "- id: acme/a\n  " + cluster + "\n  expression: now > timestamp('2026-01-01T00:00:00Z')\n  text: x"},
		{"makes a message", "- id: acme/a\n  " + cluster + "\n  expression: \"this == envoy.config.cluster.v3.Cluster{name: 'x'}\"\n  text: x"},
		{"unknown message", "- id: acme/a\n  message: envoy.config.v3.Cluster\n  expression: 'true'\n  text: x"},
		{"unknown message field", "- id: acme/a\n  " + cluster + "\n  field: nam\n  expression: this == ''\n  text: x"},
		{"unknown kind", "- id: acme/a\n  snapshot: clustr\n  expression: 'true'\n  text: x"},
		{"no resource", "- id: acme/a\n  snapshot: filter_chain\n  expression: 'true'\n  text: x"},
		{"unknown kind to reach", "- id: acme/a\n  snapshot: cluster\n  expression: this.reached_by('listner').size() > 0\n  text: x"},
		{"reach from a string", "- id: acme/a\n  snapshot: cluster\n  expression: this.name.reaches('listener').size() > 0\n  text: x"},
		{"resource field", "- id: acme/a\n  snapshot: cluster\n  expression: this.message.nam == ''\n  text: x"},
		{"resource attribute", "- id: acme/a\n  snapshot: cluster\n  expression: this.refs.size() == 0\n  text: x"},
		{"nothing", "- id: acme/a"},
		{"neither", "- id: acme/a\n  expression: 'true'\n  text: x"},
		{"both", "- id: acme/a\n  snapshot: cluster\n  " + cluster + "\n  expression: 'true'\n  text: x"},
		{"id", "- id: AcmeA\n  " + cluster + "\n  expression: 'true'\n  text: x"},
		{"no id", "- " + cluster + "\n  expression: 'true'\n  text: x"},
		{"built-in group", "- id: route/x\n  " + cluster + "\n  expression: 'true'\n  text: x"},
		{"twice", "- id: acme/a\n  " + cluster + "\n  expression: 'true'\n  text: x\n- id: acme/a\n  " + cluster + "\n  expression: 'true'\n  text: x"},
		{"severity", "- id: acme/a\n  " + cluster + "\n  expression: 'true'\n  text: x\n  severity: fatal"},
		{"resource", "- id: acme/a\n  " + cluster + "\n  expression: 'true'\n  text: x\n  resource: backend"},
		{"typo", "- id: acme/a\n  " + cluster + "\n  expresion: 'true'\n  text: x"},
		{"an expression that is not a string", "- id: acme/a\n  " + cluster + "\n  expression: true\n  text: x"},
		{"a macro without its namespace", "- id: acme/a\n  " + cluster + "\n  expression: bind(this.name) && bind(this.name)\n  text: x"},
		{"field path", "- id: acme/a\n  " + cluster + "\n  field: load_assignment.cluster_name\n  expression: this == ''\n  text: x"},
		{"a wrapper's value", "- id: acme/a\n  message: envoy.config.cluster.v3.Cluster\n  expression: this.per_connection_buffer_limit_bytes.value > 3u\n  text: x"},
		{"a wrapper as it is", "- id: acme/a\n  message: envoy.config.route.v3.RouteAction\n  expression: this.auto_host_rewrite\n  text: x"},
		{"two types", "- id: acme/a\n  " + cluster + "\n  expression: \"this.name == '' ? true : 'x'\"\n  text: x"},
		{"an enum is not a string", "- id: acme/a\n  " + cluster + "\n  expression: this.type == 'EDS'\n  text: x"},
		{"a duration is not a number", "- id: acme/a\n  " + cluster + "\n  expression: this.connect_timeout < 5\n  text: x"},
		{"not a duration", "- id: acme/a\n  " + cluster + "\n  expression: this.connect_timeout < duration('5 s')\n  text: x"},
		{"a name without a kind", "- id: acme/a\n  " + cluster + "\n  expression: 'true'\n  text: x\n  resource: public-*"},
		{"empty", "- id: acme/a\n  " + cluster + "\n  expression: ''\n  text: x"},
		{"null", "- id: acme/a\n  " + cluster + "\n  expression:\n  text: x"},
		{"a value, not a message", "- id: acme/a\n  message: google.protobuf.Duration\n  expression: this < duration('5s')\n  text: x"},
		{"a resource's field", "- id: acme/a\n  snapshot: cluster\n  field: name\n  expression: this == 'x'\n  text: x"},
		{"never null", "- id: acme/a\n  " + cluster + "\n  expression: this.outlier_detection != null && null != this.connect_timeout && this.transport_socket.typed_config != null && this.per_connection_buffer_limit_bytes != null\n  text: x"},
		{"unknown kind to find", "- id: acme/a\n  " + cluster + "\n  expression: snapshot.find('clutser', this.name).size() == 1\n  text: x"},
		{"text without an end", "- id: acme/a\n  " + cluster + "\n  expression: |\n    this.name == \"x\n    || true\n  text: x"},
		{"terminal commands are removed", "- id: \"acme/\\e[31m\"\n  " + cluster + "\n  expression: \"th\\eis\"\n  text: x"},
		{"enum typo", "- id: acme/a\n  " + cluster + "\n  expression: this.type == Cluster.DiscoveryType.EDDS\n  text: x"},
	} {
		config := "constraints:\n" + test.config + "\n"
		_, fault := understood(t, config)
		if fault == "" {
			t.Errorf("%s: nothing is found", test.name)
		}
		fmt.Fprintf(&got, "== %s\n%s--\n%s\n\n", test.name, config, fault)
	}
	golden(t, "faults.txt", got.String())
}
