package plan_test

import (
	"context"
	"slices"
	"testing"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load/gocp"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/plan"
)

// A state of a plan has old versions for what it has not sent yet. That is not a hazard; a version that both snapshots share is one.
func TestVersionsOfStates(t *testing.T) {
	t.Parallel()
	clusters := func(version string, timeout int64, names ...string) *graph.Snapshot {
		var all []types.Resource
		for _, name := range names {
			all = append(all, &clusterv3.Cluster{Name: name, ConnectTimeout: &durationpb.Duration{Seconds: timeout}})
		}
		s, err := cachev3.NewSnapshot(version, map[resource.Type][]types.Resource{resource.ClusterType: all})
		if err != nil {
			t.Fatal(err)
		}
		made, err := gocp.Snapshot(s)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	opts := plan.Options{Push: lint.Push{Transport: lint.ADSSotW}}
	hitless := func(before, after *graph.Snapshot) (bool, []string) {
		return plan.Make(graph.Diff(before, after), opts).Hitless(t.Context(), dataplane.Default())
	}
	if ok, reasons := hitless(clusters("v1", 1, "a", "b"), clusters("v2", 1, "b")); !ok {
		t.Errorf("the versions differ: %q", reasons)
	}
	if ok, reasons := hitless(clusters("v1", 1, "a"), clusters("v1", 2, "a")); ok || len(reasons) != 1 {
		t.Errorf("the versions are the same: %q", reasons)
	}
}

// A context that has ended stops the rules.
func TestContextEnds(t *testing.T) {
	t.Parallel()
	dir := "../testdata/transitions/cluster-renamed/"
	changes := graph.Diff(folder(t, dir+"old"), folder(t, dir+"new"))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	find := func(ctx context.Context) int {
		return len(plan.Hazards(ctx, changes, lint.Push{}, dataplane.Default()).Diagnostics)
	}
	if find(t.Context()) == 0 || find(ended) != 0 {
		t.Errorf("%d hazards, and %d after the end", find(t.Context()), find(ended))
	}
	moved := "../testdata/transitions/services-exchanged/"
	made := plan.Make(graph.Diff(folder(t, moved+"old"), folder(t, moved+"new")), plan.Options{})
	if ok, _ := made.Hitless(t.Context(), dataplane.Default()); ok {
		t.Error("clusters that change hands are not hitless")
	}
	if d := made.Remaining(ended, dataplane.Default()).Diagnostics; len(d) > 0 {
		t.Errorf("%d remain after the end", len(d))
	}
}

// What this plan drains and what an earlier one did drain together, for as long as the longer drain takes.
func TestDrainOfEarlierPlan(t *testing.T) {
	t.Parallel()
	dir := "../testdata/transitions/scopes-given-up/"
	earlier := plan.Drain{
		Wait:  plan.Wait{For: plan.Drained, Kind: graph.Listener, Names: []string{"ingress"}, Timeout: time.Second},
		Needs: []plan.Resource{{Kind: graph.ScopedRouteConfiguration, Name: "acme"}},
	}
	opts := plan.Options{DrainTime: time.Minute, Draining: []plan.Drain{earlier}}
	var waits []time.Duration
	for _, phase := range plan.Make(graph.Diff(folder(t, dir+"old"), folder(t, dir+"new")), opts).Phases {
		for _, w := range phase.Wait {
			if w.For == plan.Drained {
				waits = append(waits, w.Timeout)
			}
		}
	}
	if !slices.Equal(waits, []time.Duration{time.Minute}) {
		t.Errorf("waits of %v for a drain of a minute", waits)
	}
}
