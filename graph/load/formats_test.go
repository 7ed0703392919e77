package load

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/xdslint/xdslint/internal/decode/types"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
	"google.golang.org/protobuf/types/known/anypb"

	adminv3 "github.com/envoyproxy/go-control-plane/envoy/admin/v3"
	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
)

func pack(t *testing.T, m proto.Message) *anypb.Any {
	t.Helper()
	packed, err := anypb.New(m)
	if err != nil {
		t.Fatal(err)
	}
	return packed
}

// wire marshals a message of ours by its proto text.
func wire(t *testing.T, name, text string) []byte {
	t.Helper()
	mt, err := types.Envoy.FindMessageByName(discoveryPackage + "DiscoveryResponse")
	if name != "" {
		mt, err = types.Envoy.FindMessageByName("envoy.service.discovery.v3.DeltaDiscoveryResponse")
	}
	if err != nil {
		t.Fatal(err)
	}
	m := mt.New().Interface()
	if err := prototext.Unmarshal([]byte(text), m); err != nil {
		t.Fatal(err)
	}
	return marshal(t, m)
}

func marshal(t *testing.T, m proto.Message) []byte {
	t.Helper()
	raw, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestBinary(t *testing.T) {
	t.Chdir(t.TempDir())
	cluster := &clusterv3.Cluster{Name: "c"}
	const in = `[type.googleapis.com/envoy.config.cluster.v3.Cluster] { name: "c" }`
	for name, raw := range map[string][]byte{
		"response.pb":  wire(t, "", `version_info: "1" type_url: "type.googleapis.com/envoy.config.cluster.v3.Cluster" resources { `+in+` }`),
		"delta":        wire(t, "Delta", `system_version_info: "1" removed_resources: "x" resources { name: "c" version: "1" resource { `+in+` } } resources { name: "gone" }`),
		"any.binpb":    marshal(t, pack(t, cluster)),
		"bootstrap.pb": marshal(t, &bootstrapv3.Bootstrap{StaticResources: &bootstrapv3.Bootstrap_StaticResources{Clusters: []*clusterv3.Cluster{cluster}}}),
		"dump.pb": marshal(t, &adminv3.ConfigDump{Configs: []*anypb.Any{pack(t, &adminv3.ClustersConfigDump{
			StaticClusters: []*adminv3.ClustersConfigDump_StaticCluster{{Cluster: pack(t, cluster)}},
		})}}),
		"empty.pb":   wire(t, "", `version_info: "1" type_url: "type.googleapis.com/envoy.config.cluster.v3.Cluster"`),
		"garbage.pb": []byte("\x00\x01\x02\x03garbage"),
	} {
		if err := os.WriteFile(name, raw, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"response.pb":  "snapshot \"\"\n  cluster \"c\" response.pb\n",
		"delta":        "snapshot \"\"\n  cluster \"c\" delta\n",
		"any.binpb":    "snapshot \"\"\n  cluster \"c\" any.binpb\n",
		"bootstrap.pb": "snapshot \"bootstrap.pb\"\n  bootstrap \"\" static bootstrap.pb\n  cluster \"c\" static bootstrap.pb\n",
		"dump.pb":      "snapshot \"dump.pb\"\n  cluster \"c\" static dump.pb\n",
		"empty.pb":     "",
		"garbage.pb":   "snapshot \"\"\n  file \"garbage.pb\" garbage.pb\n    1:1 : this is not xDS: " + noXDS + "\n",
	} {
		expect(t, loadHere(t, Options{}, name), want)
	}
}

func TestConfigDump(t *testing.T) {
	expect(t, load(t, `
-- dump.json --
{"configs": [
 {"@type": "type.googleapis.com/envoy.admin.v3.BootstrapConfigDump", "bootstrap": {"node": {"id": "n"},
   "static_resources": {"clusters": [{"name": "s"}], "listeners": [{"name": "sl"}]}}, "last_updated": "2026-01-01T00:00:00Z"},
 {"@type": "type.googleapis.com/envoy.admin.v3.ClustersConfigDump", "static_clusters": [
   {"cluster": {"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "s"}}],
  "dynamic_active_clusters": [{"version_info": "1", "cluster": {"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "d"},
    "error_state": {"failed_configuration": {"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "d", "x": 1}, "details": "no"}}],
  "dynamic_warming_clusters": [{"cluster": {"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "w"}}]},
 {"@type": "type.googleapis.com/envoy.admin.v3.ListenersConfigDump", "dynamic_listeners": [{"name": "l",
   "active_state": {"listener": {"@type": "type.googleapis.com/envoy.config.listener.v3.Listener", "name": "l"}},
   "warming_state": {"listener": {"@type": "type.googleapis.com/envoy.config.listener.v3.Listener", "name": "l"}}}]},
 {"@type": "type.googleapis.com/envoy.admin.v3.RoutesConfigDump", "static_route_configs": [
   {"route_config": {"@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration", "name": "inline"}}],
  "dynamic_route_configs": [{"route_config": {"@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration", "name": "r"}}]},
 {"@type": "type.googleapis.com/envoy.admin.v3.ScopedRoutesConfigDump", "dynamic_scoped_route_configs": [{"name": "x", "scoped_route_configs": [
   {"@type": "type.googleapis.com/envoy.config.route.v3.ScopedRouteConfiguration", "name": "sr"}]}]},
 {"@type": "type.googleapis.com/envoy.admin.v3.SecretsConfigDump", "static_secrets": [{"name": "k", "secret":
   {"@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret", "name": "k"}}]},
 {"@type": "type.googleapis.com/envoy.admin.v3.EndpointsConfigDump", "dynamicEndpointConfigs": [{"endpointConfig":
   {"@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment", "clusterName": "e"}}]},
 {"@type": "type.googleapis.com/envoy.admin.v3.EcdsConfigDump", "ecds_filters": [{"ecds_filter":
   {"@type": "type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig", "name": "f"}}]}
]}
-- part.json --
{"configs": [{"@type": "type.googleapis.com/envoy.admin.v3.ClustersConfigDump.DynamicCluster", "cluster":
  {"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "alone"}}]}
`, Options{}, "dump.json", "part.json"), `
snapshot "dump.json"
  bootstrap "n" static dump.json
  cluster "s" static dump.json
  cluster "d" active dump.json
  cluster "w" warming dump.json
  cluster "d" error dump.json
    7:123 x: envoy.config.cluster.v3.Cluster has no field "x"
  listener "l" active dump.json
  listener "l" warming dump.json
  route_configuration "r" active dump.json
  scoped_route_configuration "sr" active dump.json
  secret "k" static dump.json
  cluster_load_assignment "e" active dump.json
  extension_config "f" active dump.json
snapshot "part.json"
  cluster "alone" active part.json
`)
}

func TestFolders(t *testing.T) {
	unpackFiles(t, `
-- conf/a.yaml --
resources: [{"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: a}]
-- conf/deploy.yaml --
apiVersion: apps/v1
kind: Deployment
-- conf/package.json --
{"name": "x", "version": "1", "node": {}}
-- conf/.git/c.yaml --
resources: [{"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: hidden}]
-- conf/sub/B.YAML --
resources: [{"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: b}]
-- conf/readme.md --
text
-- conf/chart.yaml --
metadata: {{ .Values.x }}
-- conf/envoy.yaml.tmpl.yaml --
static_resources:
  clusters:
  {{- range .x }}
  - name: {{ . }}
  {{- end }}
-- conf/empty.yaml --
`)
	if err := os.Symlink("..", filepath.Join("conf", "sub", "up")); err != nil {
		t.Fatal(err)
	}
	in, err := Paths(context.Background(), []string{"conf", "conf/sub/*.YAML"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString(show(in))
	for _, f := range in.Files {
		b.WriteString(f.Path + ": " + f.As + f.Why + "\n")
	}
	expect(t, b.String(), `
snapshot ""
  cluster "a" conf/a.yaml
  file "conf/envoy.yaml.tmpl.yaml" conf/envoy.yaml.tmpl.yaml
    3:3 : this looks like a template (line 3: {{- range .x }}); render it first
  cluster "b" conf/sub/B.YAML
conf/a.yaml: discovery response (Cluster)
conf/chart.yaml: this looks like a template (line 1: {{ .Values.x }}); render it first
conf/deploy.yaml: it is a Kubernetes object (Deployment)
conf/empty.yaml: the file is empty
conf/envoy.yaml.tmpl.yaml: this looks like a template (line 3: {{- range .x }}); render it first
conf/package.json: `+noXDS+`
conf/sub/B.YAML: discovery response (Cluster)
conf/readme.md: the extension is not that of an xDS file
conf/sub/up: a link to a folder that has already been read
`)
}

func TestNamedFiles(t *testing.T) {
	expect(t, load(t, `
-- deploy.yaml --
apiVersion: apps/v1
kind: Deployment
-- scalar.yaml --
just words
-- typo.yaml --
static_resource: {}
-- empty.yaml --
-- broken.json --
{"static_resources": {"clusters": [}}
-- helm.yaml --
node: {id: {{ .Values.id }}}
-- var.yaml --
admin: {address: {socket_address: {address: ${HOST}, port_value: 1}}}
-- text --
static_resources { clusters { name: "c" } }
-- torn --
`+"\x00\x00\x00"+`
-- latin.yaml --
node: {id: "`+"\xe9"+`"}
`, Options{}, "deploy.yaml", "scalar.yaml", "typo.yaml", "empty.yaml", "broken.json", "helm.yaml", "var.yaml", "text", "torn", "latin.yaml"), `
snapshot "text"
  bootstrap "" static text
  cluster "c" static text
snapshot "typo.yaml"
  bootstrap "" static typo.yaml
    1:1 static_resource: envoy.config.bootstrap.v3.Bootstrap has no field "static_resource"
snapshot ""
  file "broken.json" broken.json
    1:36 : expected a value: an object, a list, a string, a number, true, false or null
  file "empty.yaml" empty.yaml
    1:1 : the file is empty
  file "helm.yaml" helm.yaml
    1:12 : this looks like a template (line 1: {{ .Values.id }}); render it first
  file "latin.yaml" latin.yaml
    1:13 : the text is not valid UTF-8
  file "scalar.yaml" scalar.yaml
    1:1 : this is not xDS: `+noXDS+`
  file "torn" torn
    1:1 : this is not xDS: `+noXDS+`
  file "var.yaml" var.yaml
    1:45 : this looks like a template (line 1: ${HOST}); render it first
`)
}

func TestUTF16(t *testing.T) {
	want := "node: {id: \"é😀\"}\nx: 1\n"
	for order, text := range map[string][]byte{
		"little": {0xff, 0xfe},
		"big":    {0xfe, 0xff},
	} {
		for _, unit := range utf16.Encode([]rune(want)) {
			if order == "little" {
				text = append(text, byte(unit), byte(unit>>8))
			} else {
				text = append(text, byte(unit>>8), byte(unit))
			}
		}
		if got := string(fromUTF16(text)); got != want {
			t.Errorf("%s: %q", order, got)
		}
		fromUTF16(text[:len(text)-1]) // half a unit
		expect(t, load(t, "-- a.yaml --\n"+string(text), Options{}, "a.yaml"), `
snapshot "a.yaml"
  bootstrap "é😀" static a.yaml
    2:1 x: envoy.config.bootstrap.v3.Bootstrap has no field "x"
`)
	}
	if got := fromUTF16([]byte{0xff, 0xfe, 0x3d, 0xd8, 'a', 0}); string(got) != "\uFFFDa" {
		t.Errorf("half a pair: %q", got)
	}
	utf32 := []byte{0xff, 0xfe, 0, 0, 'a', 0, 0, 0}
	if got := fromUTF16(utf32); !bytes.Equal(got, utf32) {
		t.Errorf("UTF-32: %q", got)
	}
}

func TestStdin(t *testing.T) {
	for text, want := range map[string]string{
		`{"static_resources": {}}`: "snapshot \"<stdin>\"\n  bootstrap \"\" static <stdin>\n",
		"admin {}":                 "snapshot \"<stdin>\"\n  bootstrap \"\" static <stdin>\n",
		"admin: {}\n":              "snapshot \"<stdin>\"\n  bootstrap \"\" static <stdin>\n",
	} {
		expect(t, loadHere(t, Options{Stdin: strings.NewReader(text)}, "-"), want)
	}
}

func TestPathsThatAreMissing(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, path := range []string{"nope.yaml", "*.yaml"} {
		if _, err := Paths(context.Background(), []string{path}, Options{}); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestFileSize(t *testing.T) {
	t.Chdir(t.TempDir())
	f, err := os.Create("large.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(2 << 30); err != nil {
		t.Skip(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	expect(t, loadHere(t, Options{}, "large.yaml"), `
snapshot ""
  file "large.yaml" large.yaml
    1:1 : the file is too large: the limit is 256 MiB, this is 2048 MiB
`)
}

func TestDescriptors(t *testing.T) {
	set := &descriptorpb.FileDescriptorSet{}
	if err := prototext.Unmarshal([]byte(`
file { name: "mine.proto" package: "mine" syntax: "proto3" dependency: "google/protobuf/duration.proto" dependency: "lost.proto"
  message_type { name: "Filter"
    field { name: "wait" number: 1 type: TYPE_MESSAGE type_name: ".google.protobuf.Duration" label: LABEL_OPTIONAL json_name: "wait" }
    field { name: "lost" number: 2 type: TYPE_MESSAGE type_name: ".lost.Lost" label: LABEL_OPTIONAL json_name: "lost" } } }`), set); err != nil {
		t.Fatal(err)
	}
	// The set also brings a file that is linked in.
	set.File = append(set.File, protodesc.ToFileDescriptorProto(clusterv3.File_envoy_config_cluster_v3_cluster_proto))
	types, err := Descriptors(marshal(t, set))
	if err != nil {
		t.Fatal(err)
	}
	mt, err := types.FindMessageByName("mine.Filter")
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := mt.New().Interface().(*dynamicpb.Message); !ok {
		t.Error("mine.Filter is no dynamic message")
	}
	if mt, err := types.FindMessageByName("envoy.config.cluster.v3.Cluster"); err != nil {
		t.Error(err)
	} else if _, ok := mt.New().Interface().(*clusterv3.Cluster); !ok {
		t.Error("Cluster is not the linked one")
	}
	expect(t, load(t, `
-- l.yaml --
"@type": type.googleapis.com/envoy.config.listener.v3.Listener
name: l
filter_chains: [{filters: [{name: f, typed_config: {"@type": type.googleapis.com/mine.Filter, wait: 1s, wate: 1s}}]}]
`, Options{Types: types}, "l.yaml"), `
snapshot ""
  listener "l" l.yaml
    3:105 filter_chains[0].filters[0].typed_config.wate: mine.Filter has no field "wate"
`)
	loop := marshal(t, &descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{{Name: proto.String("loop.proto"), Dependency: []string{"loop.proto"}}}})
	for _, raw := range [][]byte{[]byte("garbage"), loop} {
		if _, err := Descriptors(raw); err == nil {
			t.Errorf("%q was taken for descriptors", raw)
		}
	}
}
