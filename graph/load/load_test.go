package load

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/xdslint/xdslint/graph"
)

// unpack writes the files of an archive into a folder of its own, which becomes the working directory.
func unpackFiles(t *testing.T, archive string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for _, file := range txtar.Parse([]byte(archive)).Files {
		if err := os.MkdirAll(filepath.Dir(file.Name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file.Name, file.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// load shows what Paths makes of an archive: each snapshot, its resources and their problems.
func load(t *testing.T, archive string, opts Options, paths ...string) string {
	t.Helper()
	unpackFiles(t, archive)
	return loadHere(t, opts, paths...)
}

func loadHere(t *testing.T, opts Options, paths ...string) string {
	t.Helper()
	in, err := Paths(context.Background(), paths, opts)
	if err != nil {
		t.Fatal(err)
	}
	return show(in)
}

func show(in *Input) string {
	var b strings.Builder
	for _, s := range in.Snapshots {
		fmt.Fprintf(&b, "snapshot %q\n", s.Name)
		for _, r := range s.Resources {
			fmt.Fprintf(&b, "  %s %q", r.Kind, r.Name)
			for _, extra := range []string{string(r.Source), string(r.State), r.File.Name} {
				if extra != "" {
					b.WriteString(" " + extra)
				}
			}
			b.WriteByte('\n')
			for _, p := range r.Problems {
				at := r.File.Position(p.Span.Start)
				fmt.Fprintf(&b, "    %d:%d %s: %s\n", at.Line, at.Column, p.Path, p.Message)
			}
		}
	}
	return b.String()
}

func expect(t *testing.T, got, want string) {
	t.Helper()
	if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestBootstrap(t *testing.T) {
	expect(t, load(t, `
-- b.yaml --
node: {id: me}
static_resources:
  clusters:
  - name: a
    tipe: STATIC
  - name: b
    connect_timeout: soon
  secrets: {name: s}
statc_resources: {}
---
ignored: [
`, Options{}, "b.yaml"), `
snapshot "b.yaml"
  bootstrap "me" static b.yaml
    9:1 statc_resources: envoy.config.bootstrap.v3.Bootstrap has no field "statc_resources"
  cluster "a" static b.yaml
    5:5 tipe: envoy.config.cluster.v3.Cluster has no field "tipe"
  cluster "b" static b.yaml
    7:22 connect_timeout: "soon" is not a duration: write seconds followed by "s", such as "0.5s" or "300s"
  secret "s" static b.yaml
  file "b.yaml" b.yaml
    12:1 : did not find expected node content
`)
}

func TestLooseResources(t *testing.T) {
	expect(t, load(t, `
-- cds.json --
{"version_info": "1", "resources": [
  {"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "a"},
  {"@type": "type.googleapis.com/envoy.service.discovery.v3.Resource", "name": "gone"},
  {"@type": "type.googleapis.com/envoy.service.discovery.v3.Resource", "name": "c", "ttl": "5s", "tll": 1,
   "resource": {"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "c", "x": 1}},
  {"@type": "type.googleapis.com/no.Such"}, {"name": "untyped"}, 5,
  {"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}], "nonse": "1"}
-- docs.yaml --
"@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration
name: r
---
- "@type": type.googleapis.com/envoy.config.listener.v3.Listener
  name: l
- "@type": type.googleapis.com/envoy.service.runtime.v3.Runtime
  name: rt
  layer: {a: 1}
-- two.json --
{"@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment", "cluster_name": "a"}
{"@type": "type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig", "name": "ecds"}
-- v2.yaml --
resources:
- {"@type": type.googleapis.com/envoy.api.v2.Cluster, name: old}
-- vhds.txtpb --
type_url: "type.googleapis.com/envoy.config.route.v3.VirtualHost"
resources { [type.googleapis.com/envoy.config.route.v3.VirtualHost] { name: "v" domains: "*" } }
`, Options{}, "."), `
snapshot ""
  cluster "a" cds.json
  cluster "c" cds.json
    5:94 x: envoy.config.cluster.v3.Cluster has no field "x"
  file "cds.json" cds.json
    4:98 tll: envoy.service.discovery.v3.Resource has no field "tll"
  file "cds.json" cds.json
    6:13 : the type "no.Such" is not known
  file "cds.json" cds.json
    6:45 : there is no "@type" here, so the type of this message is not known
  file "cds.json" cds.json
    6:66 : there is no "@type" here, so the type of this message is not known
  file "cds.json" cds.json
    7:13 : envoy.extensions.filters.http.router.v3.Router is not a resource of xDS
  file "cds.json" cds.json
    7:85 nonse: envoy.service.discovery.v3.DiscoveryResponse has no field "nonse"
  route_configuration "r" docs.yaml
  listener "l" docs.yaml
  runtime "rt" docs.yaml
  cluster_load_assignment "a" two.json
  extension_config "ecds" two.json
  file "v2.yaml" v2.yaml
    2:13 : "envoy.api.v2.Cluster" is a type of xDS v2, which no supported Envoy accepts: in v3 it is envoy.config.cluster.v3.Cluster
  virtual_host "v" vhds.txtpb
`)
}

func TestDelta(t *testing.T) {
	expect(t, load(t, `
-- a.yaml --
system_version_info: "2"
type_url: type.googleapis.com/envoy.config.cluster.v3.Cluster
removed_resources: [b]
resources:
- name: c
  resource: {"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: c, alt_stat_name: new}
-- b.yaml --
resources:
- {"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: a}
- {"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: b}
- {"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: c}
`, Options{}, "a.yaml", "b.yaml"), `
snapshot ""
  cluster "a" b.yaml
  cluster "c" a.yaml
`)
}

func TestFilesThatABootstrapNames(t *testing.T) {
	const archive = `
-- etc/boot.yaml --
dynamic_resources:
  lds_config: {path_config_source: {path: lds.yaml}}
  cds_config: {path: /srv/cds.yaml}
-- etc/lds.yaml --
resources:
- "@type": type.googleapis.com/envoy.config.listener.v3.Listener
  name: l
  filter_chains:
  - filters:
    - name: hcm
      typed_config:
        "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
        stat_prefix: x
        rds: {route_config_name: r, config_source: {path_config_source: {path: rds.json}}}
-- etc/rds.json --
{"resources": [{"@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration", "name": "r", "virtual_hosts": [
  {"name": "v", "domains": ["*"], "routes": [{"match": {"prefix": "/"}, "route": {"cluster": "nope"}}]}]}]}
-- root/srv/cds.yaml --
resources:
- "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
  name: c
  type: EDS
  eds_cluster_config: {eds_config: {path_config_source: {path: missing.yaml}}}
- "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
  name: d
  type: EDS
  eds_cluster_config: {eds_config: {path_config_source: {path: empty.yaml}}}
- "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
  name: e
  type: EDS
  eds_cluster_config: {eds_config: {path_config_source: {path: list.yaml}}}
-- etc/empty.yaml --
-- etc/list.yaml --
- a
-- etc/never.yaml --
never: opened
`
	unpackFiles(t, archive)
	in, err := Paths(context.Background(), []string{"etc/boot.yaml"}, Options{Root: "root"})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, show(in), `
snapshot "etc/boot.yaml"
  bootstrap "" static etc/boot.yaml
  listener "l" path:lds.yaml etc/lds.yaml
  cluster "c" path:/srv/cds.yaml root/srv/cds.yaml
    5:64 eds_cluster_config.eds_config.path_config_source.path: the file "missing.yaml" cannot be read: it does not exist
  cluster "d" path:/srv/cds.yaml root/srv/cds.yaml
  cluster "e" path:/srv/cds.yaml root/srv/cds.yaml
  route_configuration "r" path:rds.json etc/rds.json
  file "etc/empty.yaml" path:empty.yaml etc/empty.yaml
    1:1 : the file is empty
  file "etc/list.yaml" path:list.yaml etc/list.yaml
    1:1 : this is not xDS: it is not a bootstrap, discovery response, config_dump or resource with an "@type"
`)
	s := in.Snapshots[0]
	for _, w := range []struct {
		kind graph.Kind
		from graph.Source
		want graph.World
	}{
		{graph.Cluster, graph.Anywhere, graph.Closed},
		{graph.Listener, graph.Anywhere, graph.Closed},
		{graph.RouteConfiguration, "path:rds.json", graph.Closed},
		{graph.RouteConfiguration, graph.Anywhere, graph.Closed},
		{graph.ClusterLoadAssignment, "path:missing.yaml", graph.Open},
		{graph.ClusterLoadAssignment, graph.Anywhere, graph.Open},
		{graph.Secret, graph.Static, graph.Closed},
	} {
		if got := s.World(w.kind, w.from); got != w.want {
			t.Errorf("world of %s from %q: %d, want %d", w.kind, w.from, got, w.want)
		}
	}
	// Files that a bootstrap names belong to it, also if the run names their folder.
	if got := loadHere(t, Options{Root: "root"}, "etc"); strings.Contains(got, "snapshot \"\"") {
		t.Errorf("loose resources:\n%s", got)
	}
}

func TestWorldsOfABootstrap(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want graph.World // of clusters
	}{
		"static":    {`static_resources: {}`, graph.Closed},
		"ads":       {`dynamic_resources: {cds_config: {ads: {}}}`, graph.Open},
		"locator":   {`dynamic_resources: {cds_resources_locator: "xdstp://x/envoy.config.cluster.v3.Cluster/*"}`, graph.Open},
		"on demand": {`static_resources: {listeners: [{name: l, filter_chains: [{filters: [{name: t, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy, on_demand: {odcds_config: {ads: {}}}}}]}]}]}`, graph.Open},
	} {
		unpackFiles(t, "-- b.yaml --\n"+c.text+"\n")
		in, err := Paths(context.Background(), []string{"b.yaml"}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := in.Snapshots[0].World(graph.Cluster, graph.Anywhere); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

func TestConfigYAML(t *testing.T) {
	const archive = `
-- b.yaml --
node: {id: file, cluster: c}
static_resources: {clusters: [{name: a}]}
`
	expect(t, load(t, archive, Options{ConfigYAML: "node: {id: over}\nstatic_resources: {clusters: [{name: b}]}\nx: 1"}, "b.yaml"), `
snapshot "b.yaml"
  bootstrap "over" static b.yaml
  cluster "a" static b.yaml
  cluster "b" static --config-yaml
  file "--config-yaml" static --config-yaml
    3:1 x: envoy.config.bootstrap.v3.Bootstrap has no field "x"
`)
	expect(t, loadHere(t, Options{ConfigYAML: "node: {id: alone}"}), `
snapshot "--config-yaml"
  bootstrap "alone" static --config-yaml
`)
}

func TestStaticNamesAreAssumed(t *testing.T) {
	unpackFiles(t, `
-- b.yaml --
static_resources: {clusters: [{name: "a*b"}]}
-- r.yaml --
"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
name: c
`)
	in, err := Paths(context.Background(), []string{"."}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	loose := in.Snapshots[1]
	if !loose.NoBootstrap || !loose.Assumes(graph.Cluster, "a*b") || loose.Assumes(graph.Cluster, "axb") {
		t.Errorf("%+v", loose.Assumptions)
	}
}

func TestTextsReadNothingElse(t *testing.T) {
	other := filepath.Join(t.TempDir(), "cds.yaml")
	if err := os.WriteFile(other, []byte(`resources: [{"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: on-disk}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	const lds = `resources: [{"@type": type.googleapis.com/envoy.config.listener.v3.Listener, name: web}]`
	boot := fmt.Sprintf(`dynamic_resources: {cds_config: {path_config_source: {path: %q}}, lds_config: {path_config_source: {path: /etc/envoy/lds.yaml}}}`, other)
	input, err := Texts(t.Context(), map[string][]byte{"a/envoy.yaml": []byte(boot), "a/lds.yaml": []byte(lds)}, Options{})
	if err != nil || len(input.Snapshots) != 1 {
		t.Fatal(input, err)
	}
	s := input.Snapshots[0]
	var got []string
	for _, r := range s.Resources {
		got = append(got, string(r.Kind)+" "+r.Name)
		if len(r.Problems) > 0 {
			t.Errorf("%s: %v", r.Name, r.Problems)
		}
	}
	if want := "bootstrap , listener web"; strings.Join(got, ", ") != want {
		t.Errorf("got %q, want %q", strings.Join(got, ", "), want)
	}
	if s.World(graph.Cluster, graph.Anywhere) != graph.Open {
		t.Error("what a file that was not given holds is not known")
	}
}

// TestCutOff: Envoy reads a file of which only the first line is left as an empty response.
func TestCutOff(t *testing.T) {
	input, err := Texts(t.Context(), map[string][]byte{
		"envoy.yaml": []byte("dynamic_resources: {cds_config: {path_config_source: {path: cds.yaml}}}\n"),
		"cds.yaml":   []byte("resources:\n"),
	}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range input.Snapshots[0].Resources {
		for _, p := range r.Problems {
			t.Errorf("%s: %s", r.File.Name, p.Message)
		}
	}
}
