package apply

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/plan"
)

// start serves a first snapshot to Envoys.
func start(t *testing.T, transport lint.Transport, c config, envoys int) (*plane, []*fake) {
	t.Helper()
	p := newPlane(t, transport)
	s := c.snapshot(t, "v1", transport)
	if err := p.cache.SetSnapshot(context.Background(), "edge", s); err != nil {
		t.Fatal(err)
	}
	var all []*fake
	for range envoys {
		f := connect(t, p, transport)
		f.arrives(s)
		all = append(all, f)
	}
	return p, all
}

func options(p *plane) Options {
	return Options{Tracker: p.tracker, Plan: plan.Options{AckTimeout: longEnough / 2, DrainTime: longEnough / 2}}
}

// overEach runs a test over each transport.
func overEach(t *testing.T, test func(t *testing.T, transport lint.Transport)) {
	t.Helper()
	for _, transport := range lint.Transports {
		t.Run(string(transport), func(t *testing.T) {
			t.Parallel()
			test(t, transport)
		})
	}
}

// push runs from what the cache holds to another snapshot.
func push(p *plane, after cachev3.ResourceSnapshot, opts Options) error {
	return Run(context.Background(), p.cache, "edge", nil, after, opts)
}

// going pushes in the background.
func going(p *plane, after cachev3.ResourceSnapshot, opts Options) chan error {
	result := make(chan error, 1)
	go func() { result <- push(p, after, opts) }()
	return result
}

// waits checks that a run does not end within a short time.
func waits(t *testing.T, result chan error, what string, long time.Duration) {
	t.Helper()
	select {
	case err := <-result:
		t.Fatalf("did not wait for %s: %v", what, err)
	case <-time.After(long):
	}
}

func ended(t *testing.T, result chan error) error {
	t.Helper()
	select {
	case err := <-result:
		return err
	case <-time.After(longEnough):
		t.Fatal("the run does not end")
		return nil
	}
}

// holds checks what the cache has in the end.
func (p *plane) holds(t *testing.T, want cachev3.ResourceSnapshot) {
	t.Helper()
	got, err := p.cache.GetSnapshot("edge")
	if err != nil {
		t.Fatal(err)
	}
	for _, url := range urls {
		if len(got.GetResources(url)) != len(want.GetResources(url)) {
			t.Errorf("%s: the cache has %d, wanted %d", url, len(got.GetResources(url)), len(want.GetResources(url)))
		}
		for name, m := range want.GetResources(url) {
			if !proto.Equal(withoutTouch(m), withoutTouch(got.GetResources(url)[name])) {
				t.Errorf("%s %s: the cache has %v", url, name, got.GetResources(url)[name])
			}
		}
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	targets := map[string]config{"rerouted": rerouted, "changed": changed, "renamed": renamed, "same": plain}
	for _, transport := range lint.Transports {
		for name, target := range targets {
			t.Run(fmt.Sprintf("%s/%s", transport, name), func(t *testing.T) {
				t.Parallel()
				p, envoys := start(t, transport, plain, 2)
				after := target.snapshot(t, "v2", transport)
				p.tracker.patience = time.Hour // nothing uses it up
				if err := ended(t, going(p, after, options(p))); err != nil {
					t.Fatal(err)
				}
				p.holds(t, after)
				for _, f := range envoys {
					f.serves(after)
				}
			})
		}
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	p, envoys := start(t, lint.ADSSotW, plain, 1)
	p.tracker.versions = 0
	slower := rerouted
	slower.clusters = map[string]time.Duration{"c2": 9 * time.Second}
	for _, step := range []struct {
		target  config
		version string
		want    string // CDS, EDS, LDS, RDS
	}{
		{rerouted, "v2", "v2 v2 v1 v2"},
		{rerouted, "v3", "v2 v2 v1 v2"},   // nothing is to be sent
		{slower, "v2", "v2~3 v2~4 v1 v2"}, // another v2 than the Envoy knows; two versions were made for the phases before
	} {
		after := step.target.snapshot(t, step.version, lint.ADSSotW)
		if err := push(p, after, options(p)); err != nil {
			t.Fatal(err)
		}
		envoys[0].serves(after)
		s, err := p.cache.GetSnapshot("edge")
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join([]string{s.GetVersion(cds), s.GetVersion(eds), s.GetVersion(lds), s.GetVersion(rds)}, " "); got != step.want {
			t.Errorf("the versions are %s, wanted %s", got, step.want)
		}
	}
}

// A version that an Envoy already has would not be sent to it, even if the cache no longer has it.
func TestKnownVersion(t *testing.T) {
	t.Parallel()
	tracker := NewTracker()
	tracker.versions = 0
	s := &stream{subscriptions: map[string]*subscription{cds: {acked: "v2"}}}
	r := &run{Options: Options{Tracker: tracker}, session: &session{node: &node{streams: map[*stream]bool{s: true}}}}
	r.target = plain.snapshot(t, "v2", lint.ADSSotW)
	c, err := typeOf(graph.Cluster)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.version(c, false); got != "v2~1" {
		t.Errorf("got %q", got)
	}
	r.target = plain.snapshot(t, "v3", lint.ADSSotW)
	if got := r.version(c, false); got != "v3" {
		t.Errorf("got %q", got)
	}
	if got := r.fresh(c, "v2~1"); got != "v2~2" {
		t.Errorf("got %q", got)
	}
}

// The server's stream is busy while the run pushes a changed cluster and its endpoints: they are still sent in that order.
func TestOrder(t *testing.T) {
	t.Parallel()
	p, envoys := start(t, lint.ADSSotW, plain, 1)
	f := envoys[0]
	target := changed
	for i := range 6 {
		target.clusters = map[string]time.Duration{"c1": time.Duration(i+2) * time.Second}
		p.busy.Store(true)
		f.mu.Lock()
		l := f.streams[""]
		l.sotw(rds, l.asked[rds], l.asked[rds].nonce, "")
		f.mu.Unlock()
		f.eventually("the busy stream", func() bool { return !p.busy.Load() })
		after := target.snapshot(t, fmt.Sprint("w", i), lint.ADSSotW)
		if err := push(p, after, options(p)); err != nil {
			t.Fatal(err)
		}
		f.serves(after)
	}
}

func TestWarming(t *testing.T) {
	t.Parallel()
	overEach(t, func(t *testing.T, transport lint.Transport) {
		p, envoys := start(t, transport, plain, 2)
		slow := envoys[1]
		slow.withhold(cds)
		after := rerouted.snapshot(t, "v2", transport)
		result := going(p, after, options(p))
		slow.eventually("the new cluster", func() bool { return slow.has[cds]["c2"] != nil && slow.has[eds]["c2"] != nil })
		waits(t, result, "the ACK", 200*time.Millisecond)
		for _, f := range envoys {
			f.mu.Lock()
			for _, got := range f.got {
				if strings.HasPrefix(got, "RDS") && !strings.HasSuffix(got, "v1") {
					t.Errorf("the route was sent before the cluster was warm: %v", f.got)
				}
			}
			f.mu.Unlock()
		}
		slow.release(cds)
		if err := ended(t, result); err != nil {
			t.Fatal(err)
		}
		slow.serves(after)
	})
}

// Without ADS no ACK shows that a new cluster is warm, so Run waits for its health checks.
func TestHealthChecks(t *testing.T) {
	t.Parallel()
	overEach(t, func(t *testing.T, transport lint.Transport) {
		p, envoys := start(t, transport, plain, 1)
		target := rerouted
		if target.check = 2 * time.Second; transport.ADS() {
			target.check = longEnough
		}
		after := target.snapshot(t, "v2", transport)
		begin := time.Now()
		if err := push(p, after, options(p)); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); (took >= target.check) == transport.ADS() {
			t.Errorf("took %s", took)
		}
		envoys[0].serves(after)
	})
}

func TestReconnect(t *testing.T) {
	t.Parallel()
	overEach(t, func(t *testing.T, transport lint.Transport) {
		p, envoys := start(t, transport, plain, 2)
		envoys[1].withhold(cds)
		after := rerouted.snapshot(t, "v2", transport)
		result := going(p, after, options(p))
		for _, f := range envoys {
			f.eventually("the new cluster", func() bool { return f.has[cds]["c2"] != nil && f.has[eds]["c2"] != nil })
		}
		p.reconnect(envoys[1], func() { delete(envoys[1].withheld, cds) })
		if err := ended(t, result); err != nil {
			t.Fatal(err)
		}
		for _, f := range envoys {
			f.serves(after)
		}
	})
}

// Run does not wait for an Envoy that disconnects.
func TestGone(t *testing.T) {
	t.Parallel()
	overEach(t, func(t *testing.T, transport lint.Transport) {
		p, envoys := start(t, transport, plain, 2)
		envoys[1].withhold(cds)
		after := rerouted.snapshot(t, "v2", transport)
		result := going(p, after, options(p))
		envoys[1].eventually("the new cluster", func() bool { return envoys[1].has[cds]["c2"] != nil })
		envoys[1].disconnect()
		if err := ended(t, result); err != nil {
			t.Fatal(err)
		}
		envoys[0].serves(after)
	})
}

func TestProgress(t *testing.T) {
	t.Parallel()
	p, _ := start(t, lint.ADSSotW, plain, 1)
	var steps []string
	opts := options(p)
	opts.Progress = func(e Event) {
		step := fmt.Sprintf("%d/%d %s", e.Phase, len(e.Plan.Phases), e.Step)
		if e.Step == Waiting {
			step += fmt.Sprintf(" %s %s %v", e.Wait.For, e.Wait.Kind, e.Wait.Names)
		}
		steps = append(steps, step)
	}
	if err := push(p, changed.snapshot(t, "v2", lint.ADSSotW), opts); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"1/1 begun", "1/1 pushed", "1/1 waiting ack cluster [c1]", "1/1 waiting ack cluster_load_assignment [c1]", "1/1 done",
	}
	if !slices.Equal(steps, want) {
		t.Errorf("got  %q\nwant %q", steps, want)
	}
}

func TestFirst(t *testing.T) {
	t.Parallel()
	overEach(t, func(t *testing.T, transport lint.Transport) {
		p := newPlane(t, transport)
		s := plain.snapshot(t, "v1", transport)
		if err := push(p, s, options(p)); err != nil {
			t.Fatal("nobody is connected:", err)
		}
		p.holds(t, s)
		connect(t, p, transport).arrives(s)

		p = newPlane(t, transport)
		f := connect(t, p, transport)
		f.eventually("the subscription", func() bool { p.tracker.mu.Lock(); defer p.tracker.mu.Unlock(); return len(p.tracker.nodes) > 0 })
		if err := push(p, s, options(p)); err != nil {
			t.Fatal("somebody is connected:", err)
		}
		f.mu.Lock()
		if f.has[lds]["l"] == nil {
			t.Error("did not wait for the ACK")
		}
		f.mu.Unlock()
		f.arrives(s)
	})
}

// After a restart the cache is empty, and the Envoys still have their resources.
func TestRestart(t *testing.T) {
	t.Parallel()
	overEach(t, func(t *testing.T, transport lint.Transport) {
		p, envoys := start(t, transport, plain, 1)
		p.cache.ClearSnapshot("edge")
		envoys[0].disconnect()
		after := rerouted.snapshot(t, "v2", transport)
		result := make(chan error, 1)
		go func() {
			result <- Run(context.Background(), p.cache, "edge", plain.snapshot(t, "v1", transport), after, options(p))
		}()
		time.Sleep(50 * time.Millisecond)
		envoys[0].connect()
		if err := ended(t, result); err != nil {
			t.Fatal(err)
		}
		envoys[0].serves(after)
	})
}

// A cluster load assignment that no Envoy requests would block all others.
func TestOrphan(t *testing.T) {
	t.Parallel()
	overEach(t, func(t *testing.T, transport lint.Transport) {
		p, envoys := start(t, transport, plain, 1)
		target := rerouted
		target.orphans = []string{"nobody"}
		after := target.snapshot(t, "v2", transport)
		if err := push(p, after, options(p)); err != nil {
			t.Fatal(err)
		}
		if transport == lint.ADSSotW { // where it would block the whole type for an Envoy that connects later
			p.holds(t, rerouted.snapshot(t, "v2", transport))
		} else {
			p.holds(t, after)
		}
		envoys[0].serves(rerouted.snapshot(t, "v2", transport))

		target.clusters = map[string]time.Duration{"c2": time.Second, "nobody": time.Second}
		target.orphans = nil
		after = target.snapshot(t, "v3", transport)
		if err := push(p, after, options(p)); err != nil {
			t.Fatal(err)
		}
		envoys[0].serves(after)
	})
}
