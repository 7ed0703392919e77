package playground_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPlanResources: a plan has the place and the change of each resource that it names.
func TestPlanResources(t *testing.T) {
	bootstrap := func(timeout string) files {
		return files{"envoy.yaml": "static_resources: {clusters: [{name: local, type: STATIC, connect_timeout: " + timeout + "}]}\n"}
	}
	for name, test := range map[string]struct {
		before, after files
		want          []string
	}{
		"route-to-new-cluster": {transition(t, "route-to-new-cluster/old"), transition(t, "route-to-new-cluster/new"), []string{
			"cluster cart-v2 is added at clusters.yaml:1",
			"cluster_load_assignment cart-v2 is added at endpoints.yaml:1",
			"route_configuration shop is changed from routes.yaml:1 at routes.yaml:1",
			"cluster cart-v1 is removed from clusters.yaml:1",
			"cluster_load_assignment cart-v1 is removed from endpoints.yaml:1",
		}},
		"cluster-setting-changed": {transition(t, "cluster-setting-changed/old"), transition(t, "cluster-setting-changed/new"), []string{
			"cluster shop is changed from clusters.yaml:1 at clusters.yaml:1",
			"cluster_load_assignment shop is same from endpoints.yaml:1 at endpoints.yaml:1",
		}},
		"scope-switched": {transition(t, "scope-switched/old"), transition(t, "scope-switched/new"), []string{
			"cluster shop-acme is added at clusters.yaml:6",
			"cluster_load_assignment shop-acme is added at endpoints.yaml:6",
			"scoped_route_configuration acme~xdslint-warming is temporary",
			"route_configuration acme is added at routes.yaml:9",
			"scoped_route_configuration acme is changed from scopes.yaml:1 at scopes.yaml:1",
		}},
		"restart": {bootstrap("1s"), bootstrap("2s"), []string{
			"bootstrap  is changed from envoy.yaml:1 at envoy.yaml:1",
			"cluster local is changed from envoy.yaml:1 at envoy.yaml:1",
		}},
		"nothing": {bootstrap("1s"), bootstrap("1s"), nil},
	} {
		answer := mustCall[struct {
			Resources []struct {
				Kind, Name, Change string
				Before, After      *place
			}
		}](t, "plan", map[string]any{"before": test.before, "files": test.after})
		var got []string
		for _, r := range answer.Resources {
			text := r.Kind + " " + r.Name + " is " + r.Change
			if r.Before != nil {
				text += " from " + r.Before.text()
			}
			if r.After != nil {
				text += " at " + r.After.text()
			}
			got = append(got, text)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// transition is one side of a pair of testdata/transitions.
func transition(t *testing.T, side string) files {
	t.Helper()
	folder := filepath.Join("..", "..", "testdata", "transitions", filepath.FromSlash(side))
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	all := files{}
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[entry.Name()] = string(text)
	}
	return all
}

func (p place) text() string { return fmt.Sprintf("%s:%d", p.File, p.Start.Line) }
