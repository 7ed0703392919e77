package drawing_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/drawing"
	"github.com/xdslint/xdslint/internal/source"
)

// routes is a snapshot without text: a route configuration that names clusters, of which one is there, in two states.
func routes(clusters ...string) *graph.Snapshot {
	file := &source.File{Name: "live.pb"}
	s := &graph.Snapshot{}
	add := func(kind graph.Kind, name string, m proto.Message) {
		s.Add(&graph.Resource{Kind: kind, Name: name, Message: m, File: file})
	}
	vh := &routev3.VirtualHost{Name: "all"}
	for _, c := range clusters {
		action := &routev3.RouteAction{ClusterSpecifier: &routev3.RouteAction_Cluster{Cluster: c}}
		vh.Routes = append(vh.Routes, &routev3.Route{Action: &routev3.Route_Route{Route: action}})
	}
	add(graph.RouteConfiguration, "r", &routev3.RouteConfiguration{Name: "r", VirtualHosts: []*routev3.VirtualHost{vh}})
	add(graph.Cluster, clusters[0], &clusterv3.Cluster{Name: clusters[0]})
	add(graph.Cluster, clusters[0], &clusterv3.Cluster{Name: clusters[0]})
	s.Build()
	return s
}

func TestDrawing(t *testing.T) {
	const evil = "\"\\\n<script>|#;]"
	d := drawing.Of([]*graph.Snapshot{routes(evil, "gone")})
	draw := map[string]string{}
	for name, f := range map[string]func(*drawing.Drawing, *bytes.Buffer) error{
		"dot":     func(d *drawing.Drawing, b *bytes.Buffer) error { return d.Dot(b) },
		"mermaid": func(d *drawing.Drawing, b *bytes.Buffer) error { return d.Mermaid(b) },
		"json":    func(d *drawing.Drawing, b *bytes.Buffer) error { return d.JSON(b) },
	} {
		var b bytes.Buffer
		if err := f(d, &b); err != nil {
			t.Fatal(err)
		}
		draw[name] = b.String()
	}
	if want := `"cluster/\"\\\n<script>|#;]" [label="cluster\n\"\\\n<script>|#;]"]`; !strings.Contains(draw["dot"], want) {
		t.Errorf("no %s in\n%s", want, draw["dot"])
	}
	if want := `n1["cluster<br>#34;#92;#10;#60;script#62;#124;#35;#59;#93;"]`; !strings.Contains(draw["mermaid"], want) {
		t.Errorf("no %s in\n%s", want, draw["mermaid"])
	}
	var read struct {
		Nodes []struct{ ID, Name, State string }
		Edges []struct{ From, To, Field string }
	}
	if err := json.Unmarshal([]byte(draw["json"]), &read); err != nil {
		t.Fatal(err)
	}
	if len(read.Nodes) != 4 || read.Nodes[1].Name != evil || read.Nodes[2].ID != "cluster/"+evil+"#2" || read.Nodes[3].State != "open" {
		t.Errorf("nodes %+v", read.Nodes)
	}
	if len(read.Edges) != 2 || read.Edges[0].Field != "virtual_hosts[0].routes[0].route.cluster" {
		t.Errorf("edges %+v", read.Edges)
	}
}

func TestDrawingWithParts(t *testing.T) {
	d := drawing.Of([]*graph.Snapshot{build(t, `
- "@type": type.googleapis.com/envoy.config.listener.v3.Listener
  name: in
  filter_chains:
  - filters:
    - name: http
      typed_config:
        "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
        route_config:
          name: routes
          virtual_hosts: [{name: all, domains: ["*"], routes: [{match: {prefix: /}, route: {cluster: c}}]}]
- "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
  name: c
  load_assignment: {cluster_name: c}
`)})
	var lines strings.Builder
	for _, line := range d.WithParts().Edges {
		fmt.Fprintf(&lines, "%s -> %s at %s\n", line.From.ID, line.To.ID, line.Edge.Path)
	}
	const want = `listener/in -> route_configuration/routes at filter_chains[0].filters[0].typed_config.route_config
cluster/c -> cluster_load_assignment/c at load_assignment
route_configuration/routes -> cluster/c at filter_chains[0].filters[0].typed_config.route_config.virtual_hosts[0].routes[0].route.cluster
`
	if lines.String() != want {
		t.Errorf("got\n%s", lines.String())
	}
	place := d.WithParts().Shape().Nodes[2].Location
	if place == nil || place.Start == nil || place.Start.Line != 10 {
		t.Errorf("the route configuration is at %+v", place)
	}
	if len(d.Nodes) != 2 {
		t.Error("the drawing itself has changed")
	}
}

func TestDrawingFrom(t *testing.T) {
	d := drawing.Of([]*graph.Snapshot{routes("a", "b"), routes("c")})
	for _, c := range []struct {
		depth, nodes, edges int
	}{{0, 2, 0}, {1, 5, 3}, {-1, 5, 3}} {
		cut, ok := d.From(graph.RouteConfiguration, "r", c.depth)
		if !ok || len(cut.Nodes) != c.nodes || len(cut.Edges) != c.edges {
			t.Errorf("depth %d: %d nodes, %d edges", c.depth, len(cut.Nodes), len(cut.Edges))
		}
	}
	if _, ok := d.From(graph.Listener, "r", 0); ok {
		t.Error("found what is not there")
	}
}

func build(t *testing.T, text string) *graph.Snapshot {
	t.Helper()
	input, err := load.Paths(t.Context(), []string{"-"}, load.Options{Stdin: strings.NewReader(text), StdinName: "resources.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	return input.Snapshots[0]
}
