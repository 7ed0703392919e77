package load

import (
	"context"
	"errors"
	"testing"

	"github.com/xdslint/xdslint/internal/envoytest"
)

// In each of these Envoy has nothing to complain about but how the text reads as a message.
var protoTexts = []string{
	"# c\n", "admin {}", "admin: {}", "admin <>", "admin {}, node { id: 'a' }", "admin {}; node { id: \"a\" \"b\" }", "adminn {}", "node { id: a }", "node { id: 5 }", "node { id: \"\\x41\\101\\n\\u0041\" }", "node { id: \"\\q\" }", "node { id: \"a\n\" }", "# c\nadmin {} # d", "node { id: \"a\" id: \"b\" }", "admin {} admin {}",
	"static_resources { clusters { name: \"a\" connect_timeout { seconds: 1 } } clusters { name: \"b\" } }", "static_resources { clusters [{ name: \"a\" }, { name: \"b\" }] }", "static_resources { clusters { name: \"a\" lb_policy: RANDOM } }", "static_resources { clusters { name: \"a\" lb_policy: random } }", "static_resources { clusters { name: \"a\" lb_policy: 3 } }", "static_resources { clusters { name: \"a\" lb_policy: \"RANDOM\" } }", "static_resources { clusters { name: \"a\" lb_policy: NOPE } }",
	"static_resources { clusters { name: \"a\" respect_dns_ttl: true } }", "static_resources { clusters { name: \"a\" respect_dns_ttl: True } }", "static_resources { clusters { name: \"a\" respect_dns_ttl: t } }", "static_resources { clusters { name: \"a\" respect_dns_ttl: 1 } }", "static_resources { clusters { name: \"a\" respect_dns_ttl: 2 } }", "static_resources { clusters { name: \"a\" respect_dns_ttl: TRUE } }",
	"static_resources { clusters { name: \"a\" connect_timeout: \"1s\" } }", "static_resources { clusters { name: \"a\" per_connection_buffer_limit_bytes { value: 0x50 } } }", "static_resources { clusters { name: \"a\" per_connection_buffer_limit_bytes { value: 010 } } }", "static_resources { clusters { name: \"a\" per_connection_buffer_limit_bytes: 80 } }", "static_resources { clusters { name: \"a\" per_connection_buffer_limit_bytes { value: \"80\" } } }", "static_resources { clusters { name: \"a\" per_connection_buffer_limit_bytes { value: 80.0 } } }", "static_resources { clusters { name: \"a\" per_connection_buffer_limit_bytes { value: -1 } } }",
	"static_resources { clusters { name: \"a\" common_lb_config { healthy_panic_threshold { value: 5f } } } }", "static_resources { clusters { name: \"a\" common_lb_config { healthy_panic_threshold { value: 5.5 } } } }", "static_resources { clusters { name: \"a\" common_lb_config { healthy_panic_threshold { value: .5 } } } }",
	"static_resources { clusters { name: \"a\" metadata { filter_metadata { key: \"x\" value { fields { key: \"a\" value { string_value: \"b\" } } } } } } }", "static_resources { clusters { name: \"a\" metadata { typed_filter_metadata { key: \"x\" value { [type.googleapis.com/google.protobuf.Duration] { seconds: 1 } } } } } }", "static_resources { clusters { name: \"a\" metadata { typed_filter_metadata { key: \"x\" value { [type.googleapis.com/no.Such] { seconds: 1 } } } } } }", "static_resources { clusters { name: \"a\" metadata { typed_filter_metadata { key: \"x\" value { type_url: \"type.googleapis.com/google.protobuf.Duration\" value: \"\\010\\001\" } } } } }",
	"static_resources { clusters { name: \"a\" type: STATIC cluster_type { name: \"x\" } } }", "static_resources { clusters { name: \"a\" hosts {} } }", "static_resources { clusters { name: \"a\" } } staticResources { clusters {} }", "node { metadata { fields { key: \"a\" value { string: \"b\" } } } }", "admin { } }", "admin { ", "admin", "admin { access_log [] }", "node { id: \"\\?\\1\" }", "node: { id: 'a\"b' \"c\" }", "static_resources { clusters { name: \"a\" connectTimeout { seconds: 1 } } }",
}

func TestProtoTextAgreesWithEnvoy(t *testing.T) {
	if _, err := envoytest.Newest.Binary(); errors.Is(err, envoytest.ErrNoEnvoy) {
		t.Skip(err)
	}
	t.Parallel()
	for _, text := range protoTexts {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			verdict, err := envoytest.ValidateText(context.Background(), text, ".pb_text")
			if err != nil {
				t.Fatal(err)
			}
			in, err := Texts(context.Background(), map[string][]byte{"a.pb_text": []byte(text)}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			ours := ""
			for _, r := range in.Snapshots[0].Resources {
				for _, p := range r.Problems {
					ours += p.Message + "\n"
				}
			}
			if (ours == "") != (verdict.Outcome == envoytest.Accept) {
				t.Errorf("Envoy says %s, we say %q", verdict, ours)
			}
		})
	}
}

func TestProtoText(t *testing.T) {
	expect(t, load(t, `
-- bootstrap.pb_text --
# what does not exist is left out
static_resources {
  clusters { name: "a" typed_extension_protocol_options { key: "x" value { [type.googleapis.com/no.Such] { x: 1 } } } }
  clusters [{ name: "b" lb: 1 }, { name: "c" }]
  listeners { name: "l" metadata { filter_metadata { key: "x" value { fields { key: "y" value { string: "z" } } } } } }
}
-- broken.pb_text --
static_resources {
  secrets { name: "a" generic_secret { secret { inline_string: hunter2 } } }
}
-- delta.textproto --
system_version_info: "2"
nonce_: "1"
removed_resources: "gone"
type_url: "type.googleapis.com/envoy.config.cluster.v3.Cluster"
resources {
  name: "d"
  tll { seconds: 1 }
  resource { [type.googleapis.com/envoy.config.cluster.v3.Cluster] { name: "d" connect_timeout { secs: 1 } } }
}
-- dump.txtpb --
configs {
  [type.googleapis.com/envoy.admin.v3.ClustersConfigDump] {
    static_clusters { cluster { [type.googleapis.com/envoy.config.cluster.v3.Cluster] { name: "e" } } }
  }
}
configs { [type.googleapis.com/envoy.admin.v3.ListenersConfigDump] {} }
-- one.txtpb --
[type.googleapis.com/envoy.config.route.v3.RouteConfiguration] { name: "r" }
-- two.txtpb --
resources { [type.googleapis.com/envoy.api.v2.Cluster] { name: "old" } }
resources { [type.googleapis.com/envoy.config.cluster.v3.Cluster] { name: "f" transport_socket { typed_config { [type.googleapis.com/no.Such] { x: 1 } } } } }
resources { type_url: "type.googleapis.com/envoy.config.cluster.v3.Cluster" value: "\n\001g" }
`, Options{}, "."), `
snapshot "bootstrap.pb_text"
  bootstrap "" static bootstrap.pb_text
  listener "l" static bootstrap.pb_text
    5:97 metadata.filter_metadata["x"].fields["y"].string: google.protobuf.Value has no field "string"
  cluster "a" static bootstrap.pb_text
    3:74 typed_extension_protocol_options["x"]: the type "no.Such" is not known
  cluster "b" static bootstrap.pb_text
    4:25 lb: envoy.config.cluster.v3.Cluster has no field "lb"
  cluster "c" static bootstrap.pb_text
snapshot "dump.txtpb"
  cluster "e" static dump.txtpb
snapshot ""
  file "broken.pb_text" broken.pb_text
    2:64 : invalid value for string type
  route_configuration "r" one.txtpb
  file "two.txtpb" two.txtpb
    1:14 : "envoy.api.v2.Cluster" is a type of xDS v2, which no supported Envoy accepts: in v3 it is envoy.config.cluster.v3.Cluster
  cluster "f" two.txtpb
    2:111 transport_socket.typed_config: the type "no.Such" is not known
  cluster "g" two.txtpb
  cluster "d" delta.textproto
    8:98 connect_timeout.secs: google.protobuf.Duration has no field "secs"
  file "delta.textproto" delta.textproto
    2:1 nonce_: envoy.service.discovery.v3.DeltaDiscoveryResponse has no field "nonce_"
    7:3 resources[0].tll: envoy.service.discovery.v3.Resource has no field "tll"
`)
}
