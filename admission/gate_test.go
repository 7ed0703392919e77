package admission_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"

	"github.com/xdslint/xdslint/admission"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/lint/target"
	"github.com/xdslint/xdslint/rules"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestNew(t *testing.T) {
	cache := cachev3.NewSnapshotCache(true, cachev3.IDHash{}, nil)
	taken := prometheus.NewRegistry()
	if _, err := admission.New(cache, admission.Options{Rules: rules.All(), Metrics: taken}); err != nil {
		t.Fatal(err)
	}
	for want, options := range map[string]admission.Options{
		"admission.Options has no Rules": {},
		`admission.Options.Policies: no rule or group is named "http/reserved"`: {
			Rules: rules.All(), Policies: []admission.RulePolicy{{Selector: "http/reserved", Policy: admission.Block}},
		},
		"admission.Options.Target: envoy:0.1 is not known": {Rules: rules.All(), Target: target.Target{Plane: "envoy", Version: "0.1"}},
		"admission.Options.Deadline is negative":           {Rules: rules.All(), Deadline: -1},
		"admission.Options.Bootstrap holds no bootstrap that can be read": {
			Rules: rules.All(), Bootstrap: &graph.Snapshot{},
		},
		"admission.Options.Metrics: duplicate metrics collector registration attempted": {Rules: rules.All(), Metrics: taken},
	} {
		if _, err := admission.New(cache, options); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	if _, err := admission.New(nil, admission.Options{Rules: rules.All()}); err == nil {
		t.Error("no cache, and no error")
	}
}

func TestNoSnapshot(t *testing.T) {
	g := try(t, nil)
	for _, s := range []cachev3.ResourceSnapshot{nil, (*cachev3.Snapshot)(nil)} {
		if err := g.SetSnapshot(t.Context(), node, s); err == nil || len(g.decisions) > 0 {
			t.Error(err)
		}
	}
}

// stuck is a rule that, after some runs, does not return until it is told to.
func stuck(runs int) (rule *lint.Rule, release func()) {
	until := make(chan struct{})
	rule = (&lint.Group{Name: "test"}).Add(&lint.Rule{Name: "stuck", Severity: lint.Error, Run: lint.Whole(func(*lint.Pass) {
		if runs--; runs < 0 {
			<-until
		}
	})})
	return rule, func() { close(until) }
}

func TestDeadline(t *testing.T) {
	for _, closed := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			rule, release := stuck(0)
			defer release()
			registry := prometheus.NewRegistry()
			g := try(t, func(o *admission.Options) {
				o.Rules, o.Deadline, o.FailClosed, o.Metrics = append(rules.All(), rule), 0, closed, registry
			})
			outcome := admission.Admitted
			if closed {
				outcome = admission.Blocked
			}
			began, s := time.Now(), snapshot(t, "v1", good()...)
			for range 2 { // the second waits for the first one, which does not end
				if d := g.must(outcome, s); !d.TimedOut {
					t.Error("it was judged in time")
				}
			}
			if took := time.Since(began); took != 2*admission.DefaultDeadline {
				t.Errorf("it took %s", took)
			}
			_, err := g.set(s)
			if want := `node "edge-1" keeps what it has: the new snapshot was not judged in time`; closed && (err == nil || err.Error() != want) {
				t.Errorf("%v, want %s", err, want)
			}
			if _, err := g.cache.GetSnapshot(node); closed != (err != nil) {
				t.Error(err)
			}
			if err := testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP xdslint_gate_deadline_exceeded_total Snapshots that were not judged in time, or not wholly.
# TYPE xdslint_gate_deadline_exceeded_total counter
xdslint_gate_deadline_exceeded_total 3
`), "xdslint_gate_deadline_exceeded_total"); err != nil {
				t.Error(err)
			}
		})
	}
}

// What is known to be broken at the deadline does not go out, even if the rest was not judged to its end.
func TestDeadlineInQuarantine(t *testing.T) {
	for _, closed := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			rule, release := stuck(2) // both snapshots, and then what is left of the second
			defer release()
			g := try(t, func(o *admission.Options) {
				o.Rules, o.Deadline, o.FailClosed = append(rules.All(), rule), time.Second, closed
			})
			g.must(admission.Admitted, snapshot(t, "v1", good()...))
			bad := snapshot(t, "v2", plus(refused(eds("shop")), slow(eds("cart")))...)
			var d admission.Decision
			if closed {
				d = g.must(admission.Blocked, bad)
			} else {
				d = g.must(admission.Quarantined, bad, "cluster shop keeps its version")
			}
			if !d.TimedOut || len(d.New) != 1 {
				t.Errorf("%v, %v", d.TimedOut, findings(d))
			}
		})
	}
}

// A deadline that ends while something may have been withheld in vain changes nothing.
func TestDeadlineWhenGivingBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rule, release := stuck(4) // both snapshots, without the changed listener, without the new one either
		defer release()
		g := try(t, func(o *admission.Options) {
			o.Rules, o.Deadline, o.FailClosed = append(rules.All(), rule), time.Second, true
		})
		g.must(admission.Admitted, snapshot(t, "v1", good()...))
		d := g.must(admission.Quarantined, snapshot(t, "v2", plus(listener("also", 8080, "public"), buffered(listener("web", 8080, "public")))...),
			"listener also is left out", "listener web keeps its version")
		if d.TimedOut {
			t.Error("it was judged")
		}
	})
}

func TestContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rule, release := stuck(0)
		defer release()
		g := try(t, func(o *admission.Options) { o.Rules = []*lint.Rule{rule} })
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := g.SetSnapshot(ctx, node, snapshot(t, "v1", good()...)); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		waits := make(chan error)
		for range 2 { // one is judged, one waits for its turn
			go func() { waits <- g.SetSnapshot(ctx, node, snapshot(t, "v1", good()...)) }()
		}
		for range 2 {
			if err := <-waits; !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		}
		if _, err := g.GetSnapshot(node); err == nil || len(g.decisions) > 0 {
			t.Error("it was pushed")
		}
	})
}

func TestPanics(t *testing.T) {
	group := &lint.Group{Name: "test"}
	panics := group.Add(&lint.Rule{Name: "panics", Severity: lint.Error, Run: lint.Whole(func(*lint.Pass) { panic("oops") })})
	registry := prometheus.NewRegistry()
	g := try(t, func(o *admission.Options) {
		o.Rules, o.Metrics = append(rules.All(), panics), registry
		o.Hazards = func(_, _ *graph.Snapshot) *lint.Result { panic("no hazards") }
	})
	if d := g.must(admission.Admitted, snapshot(t, "v1", good()...)); len(d.Failures) != 1 || d.Err != nil {
		t.Errorf("%v, %v", d.Failures, d.Err)
	}
	d := g.must(admission.Quarantined, snapshot(t, "v2", plus(refused(eds("shop")))...), "cluster shop keeps its version")
	if len(d.Failures) != 1 || d.Err == nil || d.Err.Error() != "looking for hazards failed: no hazards" {
		t.Errorf("%v, %v", d.Failures, d.Err)
	}
	if err := testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP xdslint_gate_rule_failures_total Panics while judging, by rule; "other" is a panic outside of rules.
# TYPE xdslint_gate_rule_failures_total counter
xdslint_gate_rule_failures_total{rule="other"} 1
xdslint_gate_rule_failures_total{rule="test/panics"} 2
`), "xdslint_gate_rule_failures_total"); err != nil {
		t.Error(err)
	}
}

// What a rule finds that has failed on what the node has may have been there before.
func TestFailedRuleDoesNotBlock(t *testing.T) {
	fails := true
	rule := (&lint.Group{Name: "test"}).Add(&lint.Rule{Name: "sometimes", Severity: lint.Error, Run: lint.Whole(func(p *lint.Pass) {
		if fails {
			panic("oops")
		}
		p.ReportResource(p.Snapshot.All(graph.Cluster)[0], lint.Diagnostic{Message: "bad"})
	})})
	g := try(t, func(o *admission.Options) { o.Rules = []*lint.Rule{rule} })
	g.must(admission.Admitted, snapshot(t, "v1", good()...))
	fails = false
	g.must(admission.Admitted, snapshot(t, "v2", good()...))
	g.must(admission.Admitted, snapshot(t, "v3", good()...))
}

// broken is a snapshot that panics when it is read.
type broken struct{ *cachev3.Snapshot }

func (b broken) GetResourcesAndTTL(string) map[string]types.ResourceWithTTL { panic("cannot be read") }

func TestPanicOutsideOfRules(t *testing.T) {
	g := try(t, nil)
	given := broken{snapshot(t, "v1", good()...)}
	if d := g.must(admission.Admitted, given); d.Err == nil || d.Err.Error() != "judging failed: cannot be read" {
		t.Error(d.Err)
	}
	if held, _ := g.GetSnapshot(node); held != cachev3.ResourceSnapshot(given) {
		t.Error("it does not go out")
	}
}

func TestMetrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	g := try(t, func(o *admission.Options) {
		o.Metrics = registry
		o.Policies = []admission.RulePolicy{{Selector: "reference/listener-unknown-rds", Policy: admission.Block}, {Selector: "http", Policy: admission.Observe}}
	})
	g.must(admission.Admitted, snapshot(t, "v1", good()...))
	g.must(admission.Admitted, snapshot(t, "v2", good()...))
	g.must(admission.Blocked, snapshot(t, "v3", plus(listener("web", 8080, "nowhere"))...))
	g.must(admission.Quarantined, snapshot(t, "v4", plus(table("public", "nowhere", "elsewhere"))...), "route_configuration public keeps its version")
	if err := testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP xdslint_gate_new_errors_total Errors in snapshots that the node did not have before, by the rule that found them.
# TYPE xdslint_gate_new_errors_total counter
xdslint_gate_new_errors_total{rule="reference/listener-unknown-rds"} 1
xdslint_gate_new_errors_total{rule="reference/route-unknown-cluster"} 2
# HELP xdslint_gate_snapshots_total Snapshots that were judged, by what became of them: admitted, observed, quarantined, blocked.
# TYPE xdslint_gate_snapshots_total counter
xdslint_gate_snapshots_total{outcome="admitted"} 2
xdslint_gate_snapshots_total{outcome="blocked"} 1
xdslint_gate_snapshots_total{outcome="observed"} 0
xdslint_gate_snapshots_total{outcome="quarantined"} 1
# HELP xdslint_gate_withheld_resources_total Resources that a node did not get as its new snapshot has them, by kind; of quarantined snapshots only.
# TYPE xdslint_gate_withheld_resources_total counter
xdslint_gate_withheld_resources_total{kind="route_configuration"} 1
`), "xdslint_gate_new_errors_total", "xdslint_gate_snapshots_total", "xdslint_gate_withheld_resources_total"); err != nil {
		t.Error(err)
	}
	if n, err := testutil.GatherAndCount(registry, "xdslint_gate_judge_seconds"); n != 1 || err != nil {
		t.Error(n, err)
	}
	if problems, err := testutil.GatherAndLint(registry); len(problems) > 0 || err != nil {
		t.Error(problems, err)
	}
}

func TestLog(t *testing.T) {
	var lines bytes.Buffer
	g := try(t, func(o *admission.Options) {
		o.Log = slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}}))
	})
	g.must(admission.Admitted, snapshot(t, "v1", good()...))
	g.must(admission.Quarantined, snapshot(t, "v2", plus(refused(eds("shop")))...), "cluster shop keeps its version")
	want := `level=DEBUG msg="xDS snapshot admitted" node=edge-1 version=v1 known_errors=0
level=WARN msg="xDS snapshot quarantined" node=edge-1 version=v2 known_errors=0 ` +
		`new_errors="[cluster \"shop\", connect_timeout: connect_timeout must be greater than 0s [schema/constraint]]" ` +
		`withheld="[cluster \"shop\" keeps its version: connect_timeout must be greater than 0s [schema/constraint]]"
`
	if lines.String() != want {
		t.Errorf("got\n%s\nwant\n%s", lines.String(), want)
	}
}

func TestLogIsShort(t *testing.T) {
	var lines bytes.Buffer
	g := try(t, func(o *admission.Options) { o.Log = slog.New(slog.NewTextHandler(&lines, nil)) })
	g.must(admission.Admitted, snapshot(t, "v1", good()...))
	var many []types.Resource
	for i := range 100 {
		many = append(many, refused(eds(fmt.Sprint("bad-", i))), endpoints(fmt.Sprint("bad-", i), 80))
	}
	if d, _ := g.set(snapshot(t, "v2", plus(many...)...)); len(d.New) != 100 || len(d.Withheld) != 200 {
		t.Error(len(d.New), len(d.Withheld))
	}
	if got := lines.String(); !strings.Contains(got, "and 90 more]") || !strings.Contains(got, "and 190 more]") || len(got) > 5000 {
		t.Error(got)
	}
}

func TestSecretsAreNotShown(t *testing.T) {
	const secret = "hunter2-hunter2"
	leaks := (&lint.Group{Name: "test"}).Add(&lint.Rule{Name: "leaks", Severity: lint.Error, Run: lint.Each(func(p *lint.Pass, at lint.At, s *tlsv3.Secret) {
		p.Reportf(at, "the secret is %s", s.GetGenericSecret().GetSecret().GetInlineString())
	})})
	var lines bytes.Buffer
	g := try(t, func(o *admission.Options) {
		o.Rules, o.Log = []*lint.Rule{leaks}, slog.New(slog.NewTextHandler(&lines, nil))
	})
	d, err := g.set(snapshot(t, "v1", &tlsv3.Secret{Name: "token", Type: &tlsv3.Secret_GenericSecret{GenericSecret: &tlsv3.GenericSecret{
		Secret: &corev3.DataSource{Specifier: &corev3.DataSource_InlineString{InlineString: secret}},
	}}}))
	if err == nil || len(d.New) != 1 {
		t.Fatal(err, d)
	}
	if shown := fmt.Sprint(err, d.New[0].Message, d.Withheld, lines.String()); strings.Contains(shown, secret) || !strings.Contains(shown, "[secret]") {
		t.Error(shown)
	}
}

// driver is a push that takes its time.
type driver struct {
	cache   cachev3.SnapshotCache
	started chan string
	finish  chan error
}

func (d *driver) push(ctx context.Context, node string, s cachev3.ResourceSnapshot) error {
	d.started <- s.GetVersion(resource.ListenerType)
	select {
	case err := <-d.finish:
		if err != nil {
			return err
		}
		return d.cache.SetSnapshot(ctx, node, s)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func TestPush(t *testing.T) {
	d := &driver{started: make(chan string), finish: make(chan error)}
	g := try(t, func(o *admission.Options) { o.Push = d.push })
	d.cache = g.cache
	set := func(s *cachev3.Snapshot) chan error {
		result := make(chan error, 1)
		go func() { result <- g.SetSnapshot(context.Background(), node, s) }()
		if got, want := <-d.started, s.GetVersion(resource.ListenerType); got != want {
			t.Fatalf("%s is pushed, want %s", got, want)
		}
		return result
	}
	first := set(snapshot(t, "v1", good()...))
	second := set(snapshot(t, "v2", plus(slow(eds("cart")))...))
	if err := <-first; !errors.Is(err, admission.ErrSuperseded) {
		t.Error(err)
	}
	d.finish <- nil
	if err := <-second; err != nil {
		t.Error(err)
	}
	// What was pushed last is what the node has: the table's error is known while that push is under way, and new when it has failed.
	third := set(snapshot(t, "v3", plus(eds("pay"), endpoints("pay", 80), table("public", "shop", "cart", "pay"))...))
	fourth := set(snapshot(t, "v4", plus(refused(eds("pay")), endpoints("pay", 80), table("public", "shop", "cart", "pay"))...))
	if err := <-third; !errors.Is(err, admission.ErrSuperseded) {
		t.Error(err)
	}
	if got := g.decisions[3].Withheld; len(got) != 1 || got[0].Name != "pay" || got[0].How != admission.Kept {
		t.Errorf("what was on its way does not count: %v", got)
	}
	failed := errors.New("no Envoy answers")
	d.finish <- failed
	if err := <-fourth; !errors.Is(err, failed) {
		t.Error(err)
	}
	fifth := set(snapshot(t, "v5", plus(refused(eds("pay")), endpoints("pay", 80), table("public", "shop", "cart", "pay"))...))
	if got := g.decisions[4].Withheld; len(got) != 3 || got[0].How != admission.LeftOut {
		t.Errorf("what has failed counts: %v", got)
	}
	d.finish <- nil
	if err := <-fifth; err != nil {
		t.Error(err)
	}
}

// A push that panics, or a report, is its caller's affair: the next snapshot for the node has its turn.
func TestPanicsOfOthers(t *testing.T) {
	for what, change := range map[string]func(*admission.Options){
		"report": func(o *admission.Options) { o.Report = func(admission.Decision) { panic("oops") } },
		"push": func(o *admission.Options) {
			o.Push = func(context.Context, string, cachev3.ResourceSnapshot) error { panic("oops") }
		},
	} {
		g := try(t, change)
		for range 2 {
			func() {
				defer func() {
					if p := recover(); p != "oops" {
						t.Errorf("%s: %v", what, p)
					}
				}()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				t.Error(what, g.SetSnapshot(ctx, node, snapshot(t, "v1", good()...)))
			}()
		}
		g.ClearSnapshot(node)
	}
}

func TestClearEndsPush(t *testing.T) {
	d := &driver{started: make(chan string), finish: make(chan error)}
	g := try(t, func(o *admission.Options) { o.Push = d.push })
	result := make(chan error, 1)
	go func() { result <- g.SetSnapshot(context.Background(), node, snapshot(t, "v1", good()...)) }()
	<-d.started
	g.ClearSnapshot(node)
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestClear(t *testing.T) {
	g := try(t, nil)
	g.must(admission.Admitted, snapshot(t, "v1", good()...))
	g.ClearSnapshot(node)
	if _, err := g.GetSnapshot(node); err == nil {
		t.Error("the cache still holds it")
	}
	g.must(admission.Quarantined, snapshot(t, "v2", plus(refused(eds("shop")))...),
		"cluster shop is left out", "cluster_load_assignment shop is left out", "listener web is left out", "route_configuration public is left out")
}

// Snapshots for many nodes and for one, some of them bad, cleared in between: what is held in the end is never bad.
func TestManyAtOnce(t *testing.T) {
	g := try(t, func(o *admission.Options) { o.Report = nil })
	fine, bad := snapshot(t, "good", good()...), snapshot(t, "bad", plus(refused(eds("shop")))...)
	var all sync.WaitGroup
	for i := range 8 {
		name := fmt.Sprint("node-", i%4)
		all.Go(func() {
			for j := range 6 {
				s := fine
				if j%2 == 1 {
					s = bad
				}
				if err := g.SetSnapshot(context.Background(), name, s); err != nil {
					t.Error(err)
				}
				if j == 3 {
					g.ClearSnapshot(name)
				}
			}
		})
	}
	all.Wait()
	for _, name := range []string{"node-0", "node-1", "node-2", "node-3"} {
		held, err := g.GetSnapshot(name)
		if err != nil {
			continue
		}
		if c, ok := held.GetResources(resource.ClusterType)["shop"].(*clusterv3.Cluster); ok && c.ConnectTimeout.AsDuration() == 0 {
			t.Errorf("%s has what is bad", name)
		}
	}
}
