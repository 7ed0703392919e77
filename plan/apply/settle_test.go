package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/envoyproxy/go-control-plane/pkg/cache/types"

	"github.com/xdslint/xdslint/lint"
)

// A run takes over while a cluster of the previous run is still warming: requests must not be routed to it yet.
func TestTakeOverWhileWarming(t *testing.T) {
	t.Parallel()
	overEach(t, func(t *testing.T, transport lint.Transport) { takesOverWhileWarming(t, transport, false) })
}

// TestTakeOverBeforeEndpoints: a run takes over while a cluster warms, usually before the endpoints that the cluster waits for have been sent.
func TestTakeOverBeforeEndpoints(t *testing.T) {
	t.Parallel()
	overEach(t, func(t *testing.T, transport lint.Transport) { takesOverWhileWarming(t, transport, true) })
}

func takesOverWhileWarming(t *testing.T, transport lint.Transport, early bool) {
	t.Helper()
	p, envoys := start(t, transport, plain, 1)
	f := envoys[0]
	f.withhold(cds)
	p.busy.Store(early) // while the stream is busy, the first run sends none
	first := going(p, rerouted.snapshot(t, "v2", transport), options(p))
	f.eventually("the new cluster", func() bool { return f.has[cds]["c2"] != nil })
	next := rerouted
	next.backend = 8081 // only endpoints change
	after := next.snapshot(t, "v3", transport)
	second := going(p, after, options(p))
	if err := ended(t, first); !errors.Is(err, ErrSuperseded) {
		t.Errorf("the first run: %v", err)
	}
	time.Sleep(300 * time.Millisecond)
	f.mu.Lock()
	if strings.Contains(fmt.Sprint(f.has[rds]["r"]), "c2") {
		t.Error("the route leads to a cluster whose ACK is withheld")
	}
	f.mu.Unlock()
	f.release(cds)
	if err := ended(t, second); err != nil {
		t.Fatal(err)
	}
	f.serves(after)
}

// If a NACK arrives after another run has taken over from the one that sent the cluster, it counts for the new run, unless that replaces the
// cluster.
func TestTakeOverNACK(t *testing.T) {
	t.Parallel()
	for _, transport := range lint.Transports {
		for _, fixed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%t", transport, fixed), func(t *testing.T) {
				t.Parallel()
				p, envoys := start(t, transport, plain, 1)
				f := envoys[0]
				f.does(func() { f.refuses = cds })
				f.withhold(cds)
				first := going(p, rerouted.snapshot(t, "v2", transport), options(p))
				f.eventually("the refusal", func() bool { return len(f.withheld[cds]) > 0 })
				next := rerouted
				next.clusters = map[string]time.Duration{"c1": time.Second, "c2": time.Second}
				if fixed {
					next.clusters["c2"] = 2 * time.Second
				}
				after := next.snapshot(t, "w", transport) // a version that the Envoy does not reject
				second := going(p, after, options(p))
				if err := ended(t, first); !errors.Is(err, ErrSuperseded) {
					t.Errorf("the first run: %v", err)
				}
				f.release(cds)
				err := ended(t, second)
				if fixed {
					if err != nil {
						t.Fatal(err)
					}
					f.arrives(after)
					return
				}
				var nack *NackError
				if !errors.As(err, &nack) || nack.Phase != 1 || nack.TypeURL != cds {
					t.Errorf("the second run: %v", err)
				}
			})
		}
	}
}

// The drain begins in one phase, and a later phase waits for its end.
func TestTakeOverBetween(t *testing.T) {
	t.Parallel()
	old := config{
		listeners: map[string]string{"l": "r", "w": "rs", "x": "rs", "y": "rs", "z": "rs"},
		ports:     map[string]uint32{"l": 10000, "w": 10001, "x": 10002, "y": 10003, "z": 10004},
		routes:    map[string]string{"r": "c1", "rs": "cs"}, clusters: map[string]time.Duration{"c1": time.Second, "cs": time.Second},
	}
	target := config{
		listeners: map[string]string{"l": "r2", "w": "rs", "x": "rs", "y": "rs", "z": "rs"},
		ports:     map[string]uint32{"l": 10000, "w": 10002, "x": 10003, "y": 10004, "z": 10005}, // a chain of moves
		routes:    map[string]string{"r2": "c2", "rs": "cs"}, clusters: map[string]time.Duration{"c2": time.Second, "cs": time.Second},
	}
	overEach(t, func(t *testing.T, transport lint.Transport) {
		p, envoys := start(t, transport, old, 1)
		f := envoys[0]
		f.does(func() { f.drains = true })
		f.withhold(rds)
		first := going(p, target.snapshot(t, "v2", transport), options(p))
		f.eventually("the new route", func() bool { return f.has[rds]["r2"] != nil })
		later := target
		later.ports = old.ports
		second := going(p, later.snapshot(t, "v3", transport), options(p))
		if err := ended(t, first); !errors.Is(err, ErrSuperseded) {
			t.Errorf("the first run: %v", err)
		}
		f.release(rds)
		time.Sleep(500 * time.Millisecond)
		f.mu.Lock()
		if slices.Contains(f.asks(rds), "r") && f.has[cds]["c1"] == nil {
			t.Error("the cluster of draining connections is gone")
		}
		f.mu.Unlock()
		f.drain()
		if err := ended(t, second); err != nil {
			t.Error(err)
		}
	})
}

// A run returns the same error whatever it was doing when the next one took over.
func TestTakeOverAnytime(t *testing.T) {
	t.Parallel()
	p, envoys := start(t, lint.ADSSotW, plain, 1)
	var all []*Push
	for i := range 40 {
		target := []config{plain, rerouted, changed}[i%3]
		all = append(all, Begin(t.Context(), p.cache, "edge", nil, target.snapshot(t, fmt.Sprint("s", i), lint.ADSSotW), options(p)))
		time.Sleep(time.Duration(i%12) * time.Millisecond)
	}
	time.Sleep(20 * time.Millisecond)
	last := rerouted.snapshot(t, "last", lint.ADSSotW)
	if err := push(p, last, options(p)); err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		if err := one.Wait(); err != nil && !errors.Is(err, ErrSuperseded) {
			t.Error(err)
		}
	}
	envoys[0].serves(last)
}

// A run whose context has ended does not end the one under way.
func TestDeadContext(t *testing.T) {
	t.Parallel()
	p, envoys := start(t, lint.ADSSotW, plain, 1)
	f := envoys[0]
	f.withhold(cds)
	after := rerouted.snapshot(t, "v2", lint.ADSSotW)
	first := going(p, after, options(p))
	f.eventually("the new cluster", func() bool { return f.has[cds]["c2"] != nil })
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Run(ctx, p.cache, "edge", nil, after, options(p)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	f.release(cds)
	if err := ended(t, first); err != nil {
		t.Error(err)
	}
}

// A push whose cluster lacks its endpoints times out, and the Envoy takes no clusters until they come: the next push sends them at once.
func TestStuckCluster(t *testing.T) {
	t.Parallel()
	for _, transport := range []lint.Transport{lint.ADSSotW, lint.ADSDelta} {
		t.Run(string(transport), func(t *testing.T) {
			t.Parallel()
			p, envoys := start(t, transport, plain, 1)
			f := envoys[0]
			f.withhold(cds)
			broken := rerouted.snapshot(t, "v2", transport)
			delete(broken.Resources[types.Endpoint].Items, "c2")
			opts := options(p)
			opts.Plan.AckTimeout = time.Second
			var late *TimeoutError
			if err := push(p, broken, opts); !errors.As(err, &late) {
				t.Fatalf("got %v", err)
			}
			f.does(func() { f.broken = nil })
			after := rerouted.snapshot(t, "v3", transport)
			p.tracker.patience = time.Hour
			result := going(p, after, options(p))
			f.eventually("the endpoints", func() bool { return f.has[eds]["c2"] != nil })
			f.release(cds)
			if err := ended(t, result); err != nil {
				t.Fatal(err)
			}
			f.serves(after)
		})
	}
}
