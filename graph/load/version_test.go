package load

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/prototext"

	"github.com/xdslint/xdslint/internal/decode/types"
)

// versions shows what Paths knows of each resource's version and time to live.
func versions(t *testing.T, paths ...string) string {
	t.Helper()
	in, err := Paths(t.Context(), paths, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, s := range in.Snapshots {
		for _, r := range s.Resources {
			fmt.Fprintf(&b, "%s %q version %q", r.Kind, r.Name, r.Version)
			if r.TTL > 0 {
				fmt.Fprintf(&b, " ttl %s", r.TTL)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

const (
	wantSotW        = "cluster \"a\" version \"7\"\ncluster \"b\" version \"7\" ttl 1.5s\ncluster \"c\" version \"9\"\n"
	wantIncremental = "cluster \"a\" version \"3\" ttl 1m0s\n"
)

// wrapper is an Any with a Resource in it, as proto text.
func wrapper(t *testing.T, text string) string {
	t.Helper()
	mt, err := types.Envoy.FindMessageByName(discoveryPackage + "Resource")
	if err != nil {
		t.Fatal(err)
	}
	m := mt.New().Interface()
	if err := prototext.Unmarshal([]byte(text), m); err != nil {
		t.Fatal(err)
	}
	var value strings.Builder
	for _, b := range marshal(t, m) {
		fmt.Fprintf(&value, "\\x%02x", b)
	}
	return fmt.Sprintf(`resources { type_url: "type.googleapis.com/envoy.service.discovery.v3.Resource" value: "%s" } `, value.String())
}

func TestVersionOfBinary(t *testing.T) {
	t.Chdir(t.TempDir())
	cluster := func(name string) string {
		return fmt.Sprintf(`{ [type.googleapis.com/envoy.config.cluster.v3.Cluster] { name: "%s" } } `, name)
	}
	for name, raw := range map[string][]byte{
		"sotw.pb": wire(t, "", `version_info: "7" resources `+cluster("a")+
			wrapper(t, `name: "b" ttl { seconds: 1 nanos: 500000000 } resource `+cluster("b"))+wrapper(t, `version: "9" resource `+cluster("c"))),
		"delta.pb": wire(t, "Delta", `system_version_info: "7" resources { name: "a" version: "3" ttl { seconds: 60 } resource `+cluster("a")+
			`} resources { name: "heartbeat" ttl { seconds: 60 } }`),
	} {
		if err := os.WriteFile(name, raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	expect(t, versions(t, "sotw.pb"), wantSotW)
	expect(t, versions(t, "delta.pb"), wantIncremental)
}

func TestVersionOfText(t *testing.T) {
	unpackFiles(t, `
-- sotw.yaml --
version_info: "7"
resources:
- {"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: a}
- {"@type": type.googleapis.com/envoy.service.discovery.v3.Resource, name: b, ttl: 1.5s, resource: {"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: b}}
- {"@type": type.googleapis.com/envoy.service.discovery.v3.Resource, version: "9", resource: {"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: c}}
-- delta.json --
{"systemVersionInfo": "7", "resources": [
  {"name": "a", "version": "3", "ttl": "60s", "resource": {"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "a"}},
  {"name": "heartbeat", "ttl": "60s"}
], "removed_resources": []}
-- dump.yaml --
configs:
- "@type": type.googleapis.com/envoy.admin.v3.ClustersConfigDump
  version_info: "12"
  static_clusters:
  - cluster: {"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: static}
  dynamic_active_clusters:
  - version_info: "11"
    cluster: {"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: a}
- "@type": type.googleapis.com/envoy.admin.v3.ListenersConfigDump
  dynamic_listeners:
  - name: l
    active_state:
      version_info: "5"
      listener: {"@type": type.googleapis.com/envoy.config.listener.v3.Listener, name: l}
-- bare.yaml --
- {"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: a}
`)
	expect(t, versions(t, "sotw.yaml"), wantSotW)
	expect(t, versions(t, "delta.json"), wantIncremental)
	expect(t, versions(t, "dump.yaml"), "cluster \"static\" version \"\"\ncluster \"a\" version \"11\"\nlistener \"l\" version \"5\"\n")
	expect(t, versions(t, "bare.yaml"), "cluster \"a\" version \"\"\n")
}
