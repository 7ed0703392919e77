package admission_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"

	"github.com/xdslint/xdslint/admission"
	"github.com/xdslint/xdslint/lint"
)

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
# HELP xdslint_gate_new_errors_total Errors in snapshots that the node did not have before, by rule.
# TYPE xdslint_gate_new_errors_total counter
xdslint_gate_new_errors_total{rule="reference/listener-unknown-rds"} 1
xdslint_gate_new_errors_total{rule="reference/route-unknown-cluster"} 2
# HELP xdslint_gate_snapshots_total Snapshots that were judged, by outcome: admitted, observed, quarantined, blocked.
# TYPE xdslint_gate_snapshots_total counter
xdslint_gate_snapshots_total{outcome="admitted"} 2
xdslint_gate_snapshots_total{outcome="blocked"} 1
xdslint_gate_snapshots_total{outcome="observed"} 0
xdslint_gate_snapshots_total{outcome="quarantined"} 1
# HELP xdslint_gate_withheld_resources_total Resources that were withheld from quarantined snapshots, by kind.
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
