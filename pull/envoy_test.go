package pull_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/pull"
)

// envoyNode is the name under which envoytest starts Envoy.
const envoyNode = "n"

// An Envoy and a pull for its node get the same resources, and Envoy accepts the pulled files.
func TestLikeEnvoy(t *testing.T) {
	envoytest.Need(t)
	c := newCertificate(t)
	served := edge(t, c)
	cp := newControlPlane(t, served, false)
	address := listen(t, cp.server)
	if err := cp.cache.SetSnapshot(t.Context(), envoyNode, served); err != nil {
		t.Fatal(err)
	}
	envoy, err := envoytest.Serve(t.Context(), envoytest.Streams{}.Bootstrap(address), ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer envoy.Close()
	for _, listener := range []string{"web", "scoped"} {
		if _, err := envoy.Addr(t.Context(), listener); err != nil {
			t.Fatal(err)
		}
	}

	pulled, err := pull.SotW(t.Context(), pull.Server{Address: address}, node(envoyNode))
	if err != nil {
		t.Fatal(err)
	}
	dump, err := pull.Admin(t.Context(), pull.Server{Address: "http://" + envoy.AdminAddress()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(dump.Version) < len("1.40.0") || dump.Version[:2] != "1." {
		t.Errorf("version %q", dump.Version)
	}
	running := t.TempDir()
	if err := os.WriteFile(filepath.Join(running, "config_dump.json"), dump.Config, 0o600); err != nil {
		t.Fatal(err)
	}
	nothingHidden(t, running, c.hidden())
	want, got := read(t, write(t, pulled)), read(t, running)
	var differ []string
	for _, change := range graph.Diff(want, got).All {
		differ = append(differ, string(change.Kind)+" "+change.Name)
	}
	for _, name := range want.Names(graph.ClusterLoadAssignment) {
		if got.Find(graph.ClusterLoadAssignment, graph.Anywhere, name) == nil {
			t.Errorf("Envoy has no endpoints %s", name)
		}
	}
	// Envoy shows endpoints as it uses them: with their health, and with the defaults of each policy.
	if diff := cmp.Diff([]string{"cluster_load_assignment catalog", "cluster_load_assignment shop/cart"}, differ); diff != "" {
		t.Errorf("a pull from the server (-) and one from Envoy differ:\n%s", diff)
	}
}

const fromFiles = `
dynamic_resources:
  cds_config: {resource_api_version: V3, path_config_source: {path: %q}}
`

// TestFilesForEnvoy: Envoy accepts a pulled file in the same way as the server's answer.
func TestFilesForEnvoy(t *testing.T) {
	envoytest.Need(t)
	script := "-- one\nlocal two = \"\\t: #\"\n\n  return y\n"
	cluster := &clusterv3.Cluster{Name: "yes", AltStatName: "1e3", Metadata: &corev3.Metadata{FilterMetadata: map[string]*structpb.Struct{
		"acme": {Fields: map[string]*structpb.Value{"script": structpb.NewStringValue(script), "0x1f": structpb.NewNumberValue(1), "off": structpb.NewNullValue()}},
	}}}
	f := &fake{t: t, sotw: func(_ int, r *discoveryv3.DiscoveryRequest) (*discoveryv3.DiscoveryResponse, error) {
		if r.GetTypeUrl() == clusters {
			return world(t, cluster), nil
		}
		return world(t), nil
	}}
	got, err := pull.SotW(t.Context(), pull.Server{Address: listen(t, f)}, node("n"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(write(t, got), pull.FileName(graph.Cluster))
	envoy, err := envoytest.Serve(t.Context(), fmt.Sprintf(fromFiles, path), ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer envoy.Close()
	dump, err := pull.Admin(t.Context(), pull.Server{Address: "http://" + envoy.AdminAddress()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "config_dump.json")
	if err := os.WriteFile(file, dump.Config, 0o600); err != nil {
		t.Fatal(err)
	}
	taken := read(t, file).Find(graph.Cluster, graph.Anywhere, "yes")
	if taken == nil || !proto.Equal(taken.Message, cluster) {
		t.Errorf("Envoy has %v", taken)
	}
}
