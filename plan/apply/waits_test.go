package apply

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	runtimev3 "github.com/envoyproxy/go-control-plane/envoy/service/runtime/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"
	"google.golang.org/protobuf/types/known/structpb"

	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/plan"
)

// Two drains that begin with the same phase end together.
func TestDrainsTogether(t *testing.T) {
	t.Parallel()
	p, _ := start(t, lint.ADSSotW, plain, 1)
	for drain := 2 * time.Second; ; drain *= 4 { // a busy machine takes a while for all else
		took := drainingThrice(t, p, drain)
		if took >= drain*9/10 && took < 2*drain {
			return
		}
		if took < drain || drain > longEnough/8 {
			t.Fatalf("three drains of %s took %s", drain, took)
		}
	}
}

// drainingThrice returns how long a push waits for drains of which two begin with one phase, and the third with the next one.
func drainingThrice(t *testing.T, p *plane, drain time.Duration) time.Duration {
	opts := options(p)
	opts.plan = func(_, after *graph.Snapshot, _ plan.Options) *plan.Plan {
		made := drainPlan(drain)(nil, after, plan.Options{})
		ack := plan.Wait{For: plan.ACK, Kind: graph.Listener, Names: []string{"l"}, Timeout: longEnough}
		other := plan.Wait{For: plan.Drained, Kind: graph.Listener, Names: []string{"l", "other"}, Timeout: drain}
		made.Phases[0].Wait = append(made.Phases[0].Wait, other)
		made.Phases = append(made.Phases, plan.Phase{Wait: []plan.Wait{ack, {For: plan.Drained, Kind: graph.Listener, Names: []string{"later"}, Timeout: drain}}})
		return made
	}
	var begun, done time.Time // of the drains
	opts.Progress = func(e Event) {
		switch {
		case e.Step == Waiting && e.Wait.For == plan.Drained && begun.IsZero():
			begun = time.Now()
		case e.Step == Done:
			done = time.Now()
		}
	}
	if err := push(p, plain.snapshot(t, "v2", lint.ADSSotW), opts); err != nil {
		t.Fatal(err)
	}
	return done.Sub(begun)
}

// A runtime layer is waited for if an Envoy requests it.
func TestRuntime(t *testing.T) {
	t.Parallel()
	p, _ := start(t, lint.ADSSotW, plain, 1)
	var waited []string
	opts := options(p)
	opts.Progress = func(e Event) {
		if e.Step == Waiting {
			waited = append(waited, string(e.Wait.Kind))
		}
	}
	after := plain.snapshot(t, "v2", lint.ADSSotW)
	layer := &runtimev3.Runtime{Name: "layer", Layer: &structpb.Struct{Fields: map[string]*structpb.Value{"x": structpb.NewNumberValue(1)}}}
	after.Resources[types.Runtime] = cachev3.NewResources("v2", []types.Resource{layer})
	if err := push(p, after, opts); err != nil { // this Envoy requests none
		t.Fatal(err)
	}
	if !slices.Equal(waited, []string{string(graph.Runtime)}) {
		t.Errorf("waited for %v", waited)
	}

	s := &stream{subscriptions: map[string]*subscription{resource.RuntimeType: {names: map[string]bool{"layer": true}, sent: "v2"}}}
	p.tracker.mu.Lock()
	p.tracker.nodes["edge"].streams[s] = true // one that does, and has not ACKed it
	p.tracker.mu.Unlock()
	again := plain.snapshot(t, "v3", lint.ADSSotW)
	layer = &runtimev3.Runtime{Name: "layer", Layer: &structpb.Struct{Fields: map[string]*structpb.Value{"x": structpb.NewNumberValue(2)}}}
	again.Resources[types.Runtime] = cachev3.NewResources("v3", []types.Resource{layer})
	opts.Plan.AckTimeout = 100 * time.Millisecond
	var late *TimeoutError
	if err := push(p, again, opts); !errors.As(err, &late) || late.Wait.Kind != graph.Runtime {
		t.Errorf("got %v", err)
	}
}

// A first push to a node without Envoys says so, and does not wait.
func TestAbsent(t *testing.T) {
	t.Parallel()
	for _, connected := range []bool{false, true} {
		p := newPlane(t, lint.ADSSotW)
		if connected {
			f := connect(t, p, lint.ADSSotW)
			f.eventually("the subscription", func() bool { p.tracker.mu.Lock(); defer p.tracker.mu.Unlock(); return len(p.tracker.nodes) > 0 })
		}
		var steps []Step
		opts := options(p)
		opts.Progress = func(e Event) { steps = append(steps, e.Step) }
		if err := Run(context.Background(), p.cache, "edge", nil, plain.snapshot(t, "v1", lint.ADSSotW), opts); err != nil {
			t.Fatal(err)
		}
		want := []Step{Begun, Pushed, Absent, Done}
		if connected {
			want = []Step{Begun, Pushed, Waiting, Waiting, Done}
		}
		if !slices.Equal(steps, want) {
			t.Errorf("got %v, want %v", steps, want)
		}
	}
}

// An Envoy that has not answered its last clusters may wait for endpoints, which then come first. It does not wait for endpoints of clusters that
// were removed just now, though it still requests them.
func TestWaitsForMore(t *testing.T) {
	t.Parallel()
	for _, delta := range []bool{false, true} {
		for _, had := range []bool{false, true} {
			clusters := &subscription{wildcard: true, open: []response{{nonce: "1"}}}
			endpoints := &subscription{names: map[string]bool{"c2": true}, has: map[string]string{}}
			if had {
				endpoints.has["c2"], endpoints.holds = "1", wanted([]string{"c2"})
			}
			s := &stream{delta: delta, subscriptions: map[string]*subscription{cds: clusters, eds: endpoints}}
			r := &run{made: &plan.Plan{Phases: []plan.Phase{{Send: []plan.Send{
				{Kind: graph.Cluster, Update: []plan.Update{{Name: "c2"}}}, {Kind: graph.ClusterLoadAssignment, Update: []plan.Update{{Name: "c2"}}},
			}}}}}
			if r.waitsForMore(s, clusters, 0) == had {
				t.Errorf("Delta %t: waits for what it had %t: %t", delta, had, had)
			}
		}
	}
}
