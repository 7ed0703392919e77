package fieldtest_test

import (
	"strings"
	"testing"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/fieldtest"
	"github.com/xdslint/xdslint/internal/tree"
)

const listener = `
name: ingress
address: {socket_address: {address: 127.0.0.1, port_value: 8080}}
filter_chains:
- filters:
  - name: hcm
    typed_config:
      "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
      stat_prefix: ingress
      http_filters:
      - name: old
        typed_config:
          "@type": type.googleapis.com/xds.type.v3.TypedStruct
          type_url: type.googleapis.com/envoy.extensions.filters.http.buffer.v3.Buffer
          value: {max_request_bytes: 1}
      - name: mine
        typed_config:
          "@type": type.googleapis.com/xds.type.v3.TypedStruct
          type_url: type.googleapis.com/acme.Mine
          value: {anything: 1}
metadata: {filter_metadata: {acme: {team: shop}}}
no_such_field: 1
`

func TestExists(t *testing.T) {
	input, err := load.Texts(t.Context(), map[string][]byte{"listener.yaml": []byte(`"@type": type.googleapis.com/envoy.config.listener.v3.Listener` + listener)}, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := input.Snapshots[0].Resources[0]
	if r.Kind != graph.Listener {
		t.Fatalf("%s %q", r.Kind, r.Name)
	}
	var top *tree.Path
	filter := top.Item("filter_chains", 0).Item("filters", 0)
	http := func(i int) *tree.Path {
		return filter.Field("typed_config").Item("http_filters", i).Field("typed_config")
	}
	for _, c := range []struct {
		path *tree.Path
		want string // part of the error; empty: the path exists
	}{
		{top, ""},
		{top.Field("name"), ""},
		{top.Field("address").Field("pipe").Field("path"), ""}, // it need not be set
		{filter.Field("typed_config").Field("stat_prefix"), ""},
		{filter.Field("typed_config").Field("@type"), ""},
		{http(0).Field("value").Field("max_request_bytes"), ""},
		{http(1).Field("value").Field("anything"), ""},
		{top.Field("metadata").Entry("filter_metadata", "acme").Field("team"), ""},
		{top.Field("no_such_field"), ""}, // the decoder says so
		{top.Field("filter_chains"), ""},
		{top.Field("naame"), `envoy.config.listener.v3.Listener has no field "naame"`},
		{top.Field("statPrefix"), "no field"},
		{top.Item("name", 0), "name is not a list"},
		{top.Entry("filter_chains", "a"), "filter_chains is not a map"},
		{top.Field("name").Field("first"), `"name" is not a message`},
		{top.Field("filter_chains").Field("filters"), `"filter_chains" is not a message`},
		{top.Item("filter_chains", 1), "no element 1"},
		{filter.Field("typed_config").Field("value"), `HttpConnectionManager has no field "value"`},
		{http(0).Field("value").Field("max_bytes"), `Buffer has no field "max_bytes"`},
		{top.Field("metadata").Entry("filter_metadata", "shop"), `no key "shop"`},
		{top.Field("@type"), `no field "@type"`},
	} {
		switch err := fieldtest.Exists(r, c.path); {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.path, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: the error is %v, want %s", c.path, err, c.want)
		}
	}
}
