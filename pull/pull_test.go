package pull_test

import (
	"context"
	"slices"
	"testing"

	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load/gocp"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/pull"
	"github.com/xdslint/xdslint/rules"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type fetch func(context.Context, pull.Server, pull.Request) (*pull.Result, error)

// What comes is what is served, whatever the transport, and the files say the same.
func TestTransports(t *testing.T) {
	c := newCertificate(t)
	served := edge(t, c)
	cp := newControlPlane(t, served, true)
	address, url := listen(t, cp.server), cp.gateway(t)
	for _, one := range []struct {
		name  string
		fetch fetch
		at    string
	}{{"SotW", pull.SotW, address}, {"Delta", pull.Delta, address}, {"REST", pull.REST, url}} {
		t.Run(one.name, func(t *testing.T) {
			got, err := one.fetch(t.Context(), pull.Server{Address: one.at}, node("edge-1"))
			if err != nil {
				t.Fatal(err)
			}
			if notes := got.Notes(); len(notes) > 0 {
				t.Errorf("%q", notes)
			}
			dir := write(t, got)
			nothingHidden(t, dir, c.hidden())
			same(t, read(t, dir), served)
		})
	}
}

// same compares a graph of files with what a control plane has: all but the secrets in it is equal, and there is nothing to push.
func same(t *testing.T, files *graph.Snapshot, served *cachev3.Snapshot) {
	t.Helper()
	want, err := gocp.Snapshot(served)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(names(want), names(files)); diff != "" {
		t.Errorf("served (-) and pulled (+):\n%s", diff)
	}
	var changed []string
	for _, change := range graph.Diff(want, files).All {
		changed = append(changed, change.Name)
	}
	slices.Sort(changed)
	if diff := cmp.Diff([]string{"edge", "edge-client", "web/routes"}, changed); diff != "" { // these hold secrets
		t.Errorf("changed:\n%s", diff)
	}
	result := lint.Run(t.Context(), []*graph.Snapshot{files}, lint.Config{Rules: rules.All()})
	for _, d := range result.Diagnostics {
		if d.Severity >= lint.Warning {
			t.Errorf("%s: %s %s", d.Rule.ID(), d.Resource.Name, d.Message)
		}
	}
}

func names(s *graph.Snapshot) []string {
	var all []string
	for _, r := range s.Resources {
		all = append(all, string(r.Kind)+" "+r.Name)
	}
	slices.Sort(all)
	return all
}
