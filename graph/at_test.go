package graph_test

import (
	"testing"

	"github.com/xdslint/xdslint/graph"
)

// TestAt: a place is a value, whatever is named from it, and what rules name most often takes no memory.
func TestAt(t *testing.T) {
	at := (&graph.Place{Resource: &graph.Resource{}}).At()
	host := at.Field("route_config").Item("virtual_hosts", 1)
	for want, at := range map[string]graph.At{
		"":                              at,
		"route_config.virtual_hosts[1]": host,
		"route_config.virtual_hosts[1].routes[2].route.cluster": host.Item("routes", 2).Field("route", "cluster"),
		"route_config.virtual_hosts[1].routes[3].name":          host.Item("routes", 3).Field("name"),
		`route_config.virtual_hosts[1].config["a"]`:             host.Entry("config", "a").Key(),
	} {
		if got := at.Path().String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if n := testing.AllocsPerRun(10, func() { _ = at.Field("virtual_hosts").Item("routes", 3) }); n != 0 {
		t.Errorf("naming an element allocates %v times", n)
	}
}
