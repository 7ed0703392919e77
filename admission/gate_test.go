package admission_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/types/known/anypb"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"

	"github.com/xdslint/xdslint/admission"
	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestNew(t *testing.T) {
	cache := cachev3.NewSnapshotCache(true, cachev3.IDHash{}, nil)
	taken := prometheus.NewRegistry()
	if _, err := admission.New(cache, admission.Options{Rules: rules.Builtin(), Metrics: taken}); err != nil {
		t.Fatal(err)
	}
	for want, options := range map[string]admission.Options{
		"admission.Options.Rules is empty": {},
		`admission.Options.Policies: no rule or group is named "http/reserved"`: {
			Rules: rules.Builtin(), Policies: []admission.RulePolicy{{Selector: "http/reserved", Policy: admission.Block}},
		},
		`admission.Options.Target: unknown target "envoy:0.1"`: {Rules: rules.Builtin(), Target: dataplane.Target{Plane: "envoy", Version: "0.1"}},
		"admission.Options.Deadline is negative":               {Rules: rules.Builtin(), Deadline: -1},
		"admission.Options.Bootstrap does not contain a readable bootstrap": {
			Rules: rules.Builtin(), Bootstrap: &graph.Snapshot{},
		},
		"admission.Options.Metrics: duplicate metrics collector registration attempted": {Rules: rules.Builtin(), Metrics: taken},
	} {
		if _, err := admission.New(cache, options); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	if _, err := admission.New(nil, admission.Options{Rules: rules.Builtin()}); err == nil {
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

// TestGRPC: a gate in front of clients of gRPC withholds what they reject. Envoy accepts it.
func TestGRPC(t *testing.T) {
	static := eds("shop")
	static.ClusterDiscoveryType, static.EdsClusterConfig = &clusterv3.Cluster_Type{Type: clusterv3.Cluster_STATIC}, nil
	for target, outcome := range map[dataplane.Target]admission.Outcome{{}: admission.Admitted, {Plane: "grpc-go", Version: "1.85"}: admission.Blocked} {
		g := try(t, func(o *admission.Options) { o.Target, o.Policy, o.Bootstrap = target, admission.Block, nil })
		g.must(admission.Admitted, snapshot(t, "v1", eds("shop")))
		g.must(outcome, snapshot(t, "v2", static))
	}
}

// TestGRPCBootstrap: with the bootstrap of its clients, a gate knows their certificate providers and variables, and that they have no clusters
// but those that are pushed.
func TestGRPCBootstrap(t *testing.T) {
	const bootText = `{"xds_servers": [{"server_uri": "xds:443", "channel_creds": [{"type": "insecure"}]}],
		"certificate_providers": {"mesh": {"plugin_name": "file_watcher", "config": {"ca_certificate_file": "ca.pem"}}}}`
	input, err := load.Texts(t.Context(), map[string][]byte{"grpc.json": []byte(bootText)}, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	verifying := func(validation *tlsv3.CertificateValidationContext) *clusterv3.Cluster {
		packed, err := anypb.New(&tlsv3.UpstreamTlsContext{CommonTlsContext: &tlsv3.CommonTlsContext{
			ValidationContextType: &tlsv3.CommonTlsContext_ValidationContext{ValidationContext: validation},
		}})
		if err != nil {
			t.Fatal(err)
		}
		c := eds("shop")
		c.TransportSocket = &corev3.TransportSocket{Name: "envoy.transport_sockets.tls", ConfigType: &corev3.TransportSocket_TypedConfig{TypedConfig: packed}}
		return c
	}
	provider := func(name string) *clusterv3.Cluster {
		return verifying(&tlsv3.CertificateValidationContext{CaCertificateProviderInstance: &tlsv3.CertificateProviderPluginInstance{InstanceName: name}})
	}
	system := verifying(&tlsv3.CertificateValidationContext{SystemRootCerts: &tlsv3.CertificateValidationContext_SystemRootCerts{}})
	gate := func(env map[string]string) *trial {
		return try(t, func(o *admission.Options) {
			o.Target, o.Policy, o.Bootstrap, o.GRPCEnv = dataplane.Target{Plane: "grpc-go", Version: "1.85"}, admission.Block, input.Snapshots[0], env
		})
	}
	gate(nil).must(admission.Admitted, snapshot(t, "v1", provider("mesh")))
	gate(nil).must(admission.Blocked, snapshot(t, "v1", provider("other")))
	gate(nil).must(admission.Blocked, snapshot(t, "v1", system))
	gate(map[string]string{"GRPC_EXPERIMENTAL_XDS_SYSTEM_ROOT_CERTS": "true"}).must(admission.Admitted, snapshot(t, "v1", system))
	if _, err := admission.New(cachev3.NewSnapshotCache(true, cachev3.IDHash{}, nil), admission.Options{Rules: rules.Builtin(), Bootstrap: input.Snapshots[0]}); err == nil {
		t.Error("Envoys have a bootstrap of gRPC")
	}
}

// stuck is a rule that, after some runs, does not return until it is released.
func stuck(runs int) (rule *lint.Rule, release func()) {
	until := make(chan struct{})
	rule = (&lint.Group{Name: "test"}).Add(&lint.Rule{Name: "stuck", Severity: lint.Error, Run: lint.ForSnapshot(func(p *lint.Pass) {
		_ = p.Snapshot.All() // so it is called after each change
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
				o.Rules, o.Deadline, o.FailClosed, o.Metrics = append(rules.Builtin(), rule), 0, closed, registry
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
# HELP xdslint_gate_deadline_exceeded_total Snapshots that were not, or not completely, judged in time.
# TYPE xdslint_gate_deadline_exceeded_total counter
xdslint_gate_deadline_exceeded_total 3
`), "xdslint_gate_deadline_exceeded_total"); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestDeadlineInQuarantine: at the deadline, what is known to be broken is not pushed, even if the rest was not judged completely.
func TestDeadlineInQuarantine(t *testing.T) {
	for _, closed := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			rule, release := stuck(2) // both snapshots, and then what is left of the second
			defer release()
			g := try(t, func(o *admission.Options) {
				o.Rules, o.Deadline, o.FailClosed = append(rules.Builtin(), rule), time.Second, closed
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

// If the deadline passes while the gate tries to withhold less, the decision does not change.
func TestDeadlineWhenGivingBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rule, release := stuck(4) // both snapshots, without the changed listener, without the new one either
		defer release()
		g := try(t, func(o *admission.Options) {
			o.Rules, o.Deadline, o.FailClosed = append(rules.Builtin(), rule), time.Second, true
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
	panics := group.Add(&lint.Rule{Name: "panics", Severity: lint.Error, Run: lint.ForSnapshot(func(*lint.Pass) { panic("oops") })})
	registry := prometheus.NewRegistry()
	g := try(t, func(o *admission.Options) {
		o.Rules, o.Metrics = append(rules.Builtin(), panics), registry
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

// TestFailedRuleDoesNotBlock: if a rule failed on the snapshot that the node has, its findings are not new, since the node may have had them before.
func TestFailedRuleDoesNotBlock(t *testing.T) {
	fails := true
	rule := (&lint.Group{Name: "test"}).Add(&lint.Rule{Name: "sometimes", Severity: lint.Error, Run: lint.ForSnapshot(func(p *lint.Pass) {
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
