package decode_test

import (
	"fmt"
	"testing"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/internal/decode"
	_ "github.com/xdslint/xdslint/internal/decode/linked"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/syntax"
	"github.com/xdslint/xdslint/internal/tree"
)

// problems decodes the value of one field.
func problems(t *testing.T, format decode.Format, parse func(*source.File) ([]*tree.Node, error), text string, m proto.Message) []decode.Problem {
	t.Helper()
	docs, err := parse(&source.File{Name: "x", Text: []byte(text)})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	d := decode.NewDecoder(nil)
	d.Format = format
	d.Decode(docs[0], m)
	return d.Problems
}

// What Envoy Gateway's reader takes is what protojson takes.
func TestProtoJSON(t *testing.T) {
	fields := map[string]proto.Message{
		"connect_timeout": &clusterv3.Cluster{}, "name": &clusterv3.Cluster{}, "type": &clusterv3.Cluster{}, "metadata": &clusterv3.Cluster{},
		"ignore_health_on_host_removal": &clusterv3.Cluster{}, "per_connection_buffer_limit_bytes": &clusterv3.Cluster{},
		"health_checks": &clusterv3.Cluster{}, "typed_extension_protocol_options": &clusterv3.Cluster{},
		"domains": &routev3.VirtualHost{}, "status": &routev3.DirectResponseAction{}, "append_x_forwarded_host": &routev3.RouteAction{},
		"typed_config": &hcmv3.HttpFilter{}, "set_current_client_cert_details": &hcmv3.HttpConnectionManager{},
	}
	const lua = `"@type": "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua"`
	values := []string{
		`null`, `true`, `"true"`, `"yes"`, `1`, `1.0`, `1.5`, `"1"`, `"1.5"`, `-1`, `"1s"`, `"1m"`, `"1.5s"`, `"500ms"`, `"STATIC"`, `"static"`, `"0"`, `99`,
		`[]`, `["a"]`, `[1]`, `[["a"]]`, `{}`, `[{}]`, `{"value": 1}`, `{"seconds": 1}`, `4294967296`, `"abc"`,
		`{` + lua + `, "inline_code": "x"}`, `{` + lua + `, "inlineCod": "x"}`, `{"@type": "nothing"}`, `{"a": {"@type": "type.googleapis.com/nothing"}}`,
		`{"@type": "type.googleapis.com/google.protobuf.Duration", "value": "1s"}`, `{"filter_metadata": {"a": {"b": [1, null, {"c": "d"}]}}}`,
	}
	for field, m := range fields {
		for _, value := range values {
			text := fmt.Sprintf(`{%q: %s}`, field, value)
			err := protojson.Unmarshal([]byte(text), proto.Clone(m))
			found := problems(t, decode.ProtoJSON, syntax.ParseJSON, text, proto.Clone(m))
			if (err != nil) != (len(found) > 0) {
				t.Errorf("%s: protojson says %v, we say %v", text, err, found)
			}
		}
	}
}

// What jsonpb takes, seen in github.com/golang/protobuf v1.5.4.
func TestJsonpb(t *testing.T) {
	for text, good := range map[string]bool{
		`connect_timeout: 5m`:                           true,
		`connect_timeout: 1m30s`:                        true,
		`connect_timeout: 0.25s`:                        true,
		`connect_timeout: "5"`:                          false,
		`connect_timeout: {seconds: 5}`:                 false,
		`connectTimeout: 5s`:                            true,
		`type: STATIC`:                                  true,
		`type: static`:                                  false,
		`type: 0`:                                       true,
		`health_checks: {}`:                             false,
		`per_connection_buffer_limit_bytes: "5"`:        true,
		`per_connection_buffer_limit_bytes: {value: 5}`: false,
		`ignore_health_on_host_removal: "true"`:         false,
		`ignore_health_on_host_removal: yes`:            true,
		`name: 1.5`:                                     false,
		`name: "1.5"`:                                   true,
		`name: 1.5.0`:                                   true,
		`name: 123`:                                     false,
		`transport_socket: {typed_config: {}}`:          false,
	} {
		if found := problems(t, decode.Jsonpb, syntax.ParseYAML, text, &clusterv3.Cluster{}); (len(found) == 0) != good {
			t.Errorf("%s: %v", text, found)
		}
	}
}
