package apply

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/plan"
)

func TestUnsubscribe(t *testing.T) {
	t.Parallel()
	overEach(t, func(t *testing.T, transport lint.Transport) {
		p, envoys := start(t, transport, plain, 2)
		for _, f := range envoys {
			f.does(func() { f.drains = true })
		}
		after := renamed.snapshot(t, "v2", transport)
		result := going(p, after, options(p))
		for _, f := range envoys {
			f.eventually("the new listener's route", func() bool { return f.has[rds]["r2"] != nil })
		}
		envoys[0].drain()
		waits(t, result, "the drain", 400*time.Millisecond)
		envoys[1].mu.Lock()
		if envoys[1].has[cds]["c1"] == nil {
			t.Error("the cluster of draining connections is gone")
		}
		envoys[1].mu.Unlock()
		envoys[1].drain()
		if err := ended(t, result); err != nil {
			t.Fatal(err)
		}
		for _, f := range envoys {
			f.serves(after)
		}
	})
}

// TestReconnectWhileDraining: an Envoy loses its connection to the control plane while connections drain.
func TestReconnectWhileDraining(t *testing.T) {
	t.Parallel()
	overEach(t, func(t *testing.T, transport lint.Transport) {
		p, envoys := start(t, transport, plain, 1)
		f := envoys[0]
		f.does(func() { f.drains = true })
		result := going(p, renamed.snapshot(t, "v2", transport), options(p))
		f.eventually("the new listener's route", func() bool { return f.has[rds]["r2"] != nil })
		p.reconnect(f, func() {})
		waits(t, result, "the drain", 400*time.Millisecond)
		f.drain()
		if err := ended(t, result); err != nil {
			t.Fatal(err)
		}
		f.serves(renamed.snapshot(t, "v2", transport))
	})
}

func TestDrainTimeout(t *testing.T) {
	t.Parallel()
	p, envoys := start(t, lint.ADSSotW, plain, 1)
	envoys[0].does(func() { envoys[0].drains = true })
	opts := options(p)
	opts.Plan.AckTimeout, opts.Plan.DrainTime = 15*time.Second, 100*time.Millisecond
	err := push(p, renamed.snapshot(t, "v2", lint.ADSSotW), opts)
	var late *TimeoutError
	if !errors.As(err, &late) || late.Wait.For != plan.Unsubscribe || !strings.Contains(err.Error(), "still requests it: connections that use it are open") {
		t.Fatalf("got %v", err)
	}
	s, _ := p.cache.GetSnapshot("edge")
	if s.GetResources(cds)["c1"] == nil || s.GetResources(lds)["l2"] == nil {
		t.Error("what the phase has sent is gone")
	}
}

func TestTakeOver(t *testing.T) {
	t.Parallel()
	overEach(t, func(t *testing.T, transport lint.Transport) {
		p, envoys := start(t, transport, plain, 1)
		f := envoys[0]
		f.does(func() { f.drains = true })
		first := going(p, renamed.snapshot(t, "v2", transport), options(p))
		f.eventually("the new listener's route", func() bool { return f.has[rds]["r2"] != nil })
		time.Sleep(50 * time.Millisecond)

		later := renamed
		later.routes = map[string]string{"r2": "c3"}
		later.clusters = map[string]time.Duration{"c3": time.Second}
		after := later.snapshot(t, "v3", transport)
		second := going(p, after, options(p))
		if err := ended(t, first); !errors.Is(err, ErrSuperseded) {
			t.Fatalf("the first run: %v", err)
		}
		f.eventually("the newest route", func() bool { return f.has[cds]["c3"] != nil && f.has[rds]["r2"] != nil })
		waits(t, second, "what the first run made drain", 500*time.Millisecond)
		f.mu.Lock()
		if f.has[cds]["c1"] == nil {
			t.Error("the cluster of draining connections is gone")
		}
		f.mu.Unlock()
		f.drain()
		if err := ended(t, second); err != nil {
			t.Fatal(err)
		}
		f.serves(after)
		p.holds(t, after)
	})
}

// A rollback while connections drain, and then the same push again: the name whose release the first plan waited for is in use again.
func TestRollback(t *testing.T) {
	t.Parallel()
	overEach(t, func(t *testing.T, transport lint.Transport) {
		p, envoys := start(t, transport, plain, 1)
		f := envoys[0]
		f.does(func() { f.drains = true })
		opts := options(p)
		opts.Plan.AckTimeout, opts.Plan.DrainTime = longEnough, 700*time.Millisecond
		first := going(p, renamed.snapshot(t, "v2", transport), opts)
		f.eventually("the new listener's route", func() bool { return f.has[rds]["r2"] != nil })
		time.Sleep(50 * time.Millisecond)
		second := going(p, plain.snapshot(t, "v3", transport), opts)
		if err := ended(t, first); !errors.Is(err, ErrSuperseded) {
			t.Fatalf("the first run: %v", err)
		}
		f.eventually("the old listener", func() bool { return f.has[lds]["l"] != nil && f.has[lds]["l2"] == nil })
		f.drain()
		if err := ended(t, second); err != nil {
			t.Fatal(err)
		}
		after := renamed.snapshot(t, "v4", transport)
		if err := push(p, after, opts); err != nil {
			t.Fatal(err)
		}
		f.serves(after)
	})
}

// drainPlan begins to drain a listener, and removes a cluster after that.
func drainPlan(timeout time.Duration) func(_, after *graph.Snapshot, _ plan.Options) *plan.Plan {
	return func(_, after *graph.Snapshot, _ plan.Options) *plan.Plan {
		l := after.Pushed(graph.Listener, "l")
		return &plan.Plan{Phases: []plan.Phase{
			{
				Send: []plan.Send{{Kind: graph.Listener, Update: []plan.Update{{Name: "l", Content: plan.New, Message: l.Message}}}},
				Wait: []plan.Wait{
					{For: plan.ACK, Kind: graph.Listener, Names: []string{"l"}, Timeout: longEnough},
					{For: plan.Drained, Kind: graph.Listener, Names: []string{"l"}, Timeout: timeout},
				},
			},
		}}
	}
}

func TestDrained(t *testing.T) {
	t.Parallel()
	p, _ := start(t, lint.ADSSotW, plain, 1)
	after := plain.snapshot(t, "v2", lint.ADSSotW)
	opts := options(p)
	opts.plan = drainPlan(300 * time.Millisecond)
	begin := time.Now()
	if err := push(p, after, opts); err != nil || time.Since(begin) < 300*time.Millisecond {
		t.Errorf("without a way to ask: %v after %s", err, time.Since(begin))
	}

	opts.plan = drainPlan(time.Hour)
	var asked []string
	opts.Drained = func(_ context.Context, listeners []string) error {
		asked = listeners
		return nil
	}
	if err := push(p, after, opts); err != nil || !slices.Equal(asked, []string{"l"}) {
		t.Errorf("asked for %v: %v", asked, err)
	}

	opts.Drained = func(context.Context, []string) error { return errors.New("no admin interface") }
	want := `node "edge", phase 1 of 1: waiting for listener "l" to drain: no admin interface`
	if err := push(p, after, opts); err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}

	opts.plan = drainPlan(300 * time.Millisecond)
	opts.Drained = func(ctx context.Context, _ []string) error { <-ctx.Done(); return ctx.Err() }
	if err := push(p, after, opts); err != nil {
		t.Errorf("after the drain time nothing is left to drain: %v", err)
	}
}

// The time of a drain runs from the ACK of what begins it, also if the next run has taken over before that.
func TestDrainOfSuperseded(t *testing.T) {
	t.Parallel()
	overEach(t, func(t *testing.T, transport lint.Transport) {
		const drain = 400 * time.Millisecond
		p, envoys := start(t, transport, plain, 1)
		f := envoys[0]
		f.withhold(lds)
		opts := options(p)
		opts.plan = drainPlan(drain)
		changed := plain
		changed.ports = map[string]uint32{"l": 10001}
		first := going(p, changed.snapshot(t, "v2", transport), opts)
		f.eventually("the listener", func() bool { return len(f.withheld[lds]) > 0 })
		opts.plan = func(_, _ *graph.Snapshot, o plan.Options) *plan.Plan {
			made := &plan.Plan{}
			for _, d := range o.Draining {
				made.Phases = append(made.Phases, plan.Phase{Wait: []plan.Wait{d.Wait}})
			}
			return made
		}
		second := going(p, changed.snapshot(t, "v3", transport), opts)
		if err := ended(t, first); !errors.Is(err, ErrSuperseded) {
			t.Errorf("the first run: %v", err)
		}
		waits(t, second, "the ACK", drain+closing)
		begun := time.Now()
		f.release(lds)
		if err := ended(t, second); err != nil || time.Since(begun) < drain {
			t.Errorf("%s after the ACK: %v", time.Since(begun), err)
		}
	})
}

// An Envoy that connects while others drain gets its routes at once, though it does not request those of the old listener.
func TestJoinWhileDraining(t *testing.T) {
	t.Parallel()
	overEach(t, func(t *testing.T, transport lint.Transport) {
		p, envoys := start(t, transport, plain, 1)
		f := envoys[0]
		f.does(func() { f.drains = true })
		after := renamed.snapshot(t, "v2", transport)
		result := going(p, after, options(p))
		f.eventually("the new listener's route", func() bool { return f.has[rds]["r2"] != nil })
		joined := connect(t, p, transport)
		joined.eventually("its route", func() bool { return joined.has[rds]["r2"] != nil })
		f.mu.Lock()
		if f.has[rds]["r"] == nil || f.has[cds]["c1"] == nil {
			t.Error("what draining connections use is removed")
		}
		f.mu.Unlock()
		f.drain()
		if err := ended(t, result); err != nil {
			t.Fatal(err)
		}
		f.serves(after)
		joined.arrives(after)
	})
}
