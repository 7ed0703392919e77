package xdslint_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/lint"
)

func linter(t *testing.T, config string, o xdslint.Options) *xdslint.Linter {
	t.Helper()
	var err error
	if o.Config, err = xdslint.ParseConfig(".xdslint.yaml", []byte(config)); err != nil {
		t.Fatal(err)
	}
	l, err := xdslint.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func texts(text string) xdslint.Input {
	return xdslint.Texts(map[string][]byte{"envoy.yaml": []byte(text)})
}

// found lists findings: SEVERITY RULE.
func found(all []lint.Diagnostic) (ids []string) {
	for i := range all {
		ids = append(ids, all[i].Severity.String()+" "+all[i].Rule.ID())
	}
	return ids
}

func linted(t *testing.T, l *xdslint.Linter, in xdslint.Input) *xdslint.Report {
	t.Helper()
	r, err := l.Lint(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// Suppressions and the baseline add findings; what the configuration says of severities holds for those too.
func TestSeveritiesComeLast(t *testing.T) {
	const unused = "# xdslint:ignore=route/unreachable -- it was there\n" + bootstrap
	expect(t, found(linted(t, linter(t, "", xdslint.Options{}), texts(unused)).Diagnostics), "warning suppress/unused", "error schema/constraint")
	l := linter(t, "severities: {suppress/unused: error, schema/constraint: info}", xdslint.Options{})
	expect(t, found(linted(t, l, texts(unused)).Diagnostics), "error suppress/unused", "info schema/constraint")
	l = linter(t, "severities: {suppress: off}", xdslint.Options{})
	expect(t, found(linted(t, l, texts(unused)).Diagnostics), "error schema/constraint")
}

// What a suppression hides is not in the baseline, and an entry that no longer occurs is a finding with the severity of the configuration.
func TestBaselineComesAfterSuppressions(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("envoy.yaml", []byte(bootstrap), 0o600); err != nil {
		t.Fatal(err)
	}
	before := linted(t, linter(t, "", xdslint.Options{}), xdslint.Paths("envoy.yaml"))
	path := filepath.Join(dir, ".xdslint-baseline.json")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(before.Baseline(path).Write(f), f.Close()); err != nil {
		t.Fatal(err)
	}
	known, err := xdslint.ReadBaseline(path)
	if err != nil {
		t.Fatal(err)
	}
	r := linted(t, linter(t, "", xdslint.Options{Baseline: known}), xdslint.Paths("envoy.yaml"))
	if len(r.Diagnostics) > 0 || r.Baselined != 1 || r.Suppressed != 0 {
		t.Errorf("%q, %d in the baseline, %d suppressed", found(r.Diagnostics), r.Baselined, r.Suppressed)
	}
	const ignores = "ignores: [{rule: schema/constraint, reason: known}]\nseverities: {suppress/stale-baseline: warning}"
	r = linted(t, linter(t, ignores, xdslint.Options{Baseline: known}), xdslint.Paths("envoy.yaml"))
	expect(t, found(r.Diagnostics), "warning suppress/stale-baseline")
	if r.Baselined != 0 || r.Suppressed != 1 {
		t.Errorf("%d in the baseline, %d suppressed", r.Baselined, r.Suppressed)
	}
	// Of other inputs and other rules the baseline does not know whether it is stale.
	for name, o := range map[string]xdslint.Options{"other rules": {Baseline: known, Ignore: []string{"route"}}, "the same": {Baseline: known}} {
		r = linted(t, linter(t, ignores, o), xdslint.Paths(".").Whole())
		if len(r.Diagnostics) > 0 {
			t.Errorf("%s: %q", name, found(r.Diagnostics))
		}
	}
}

// A finding of several targets is there once, and says whose it is where not all share it.
func TestTargets(t *testing.T) {
	const text = bootstrap + `
  - name: new
    type: STATIC
    health_checks: [{name: shallow, timeout: 1s, interval: 5s, unhealthy_threshold: 3, healthy_threshold: 1, tcp_health_check: {}}]
`
	l := linter(t, "targets: ['envoy:1.36', 'envoy:1.40']", xdslint.Options{})
	r := linted(t, l, texts(text))
	for _, d := range r.Diagnostics {
		only := strings.Contains(strings.Join(d.Notes, "\n"), "only for envoy:1.36")
		if shared := d.Rule.ID() == "schema/constraint"; shared == only {
			t.Errorf("%s: %q", d.Rule.ID(), d.Notes)
		}
	}
	if len(r.Diagnostics) != 2 {
		t.Errorf("%q", found(r.Diagnostics))
	}
	if got := linter(t, "targets: ['envoy:1.36']", xdslint.Options{Targets: []string{"envoy:1.39"}}).Targets(); len(got) != 1 || got[0].String() != "envoy:1.39" {
		t.Errorf("targets %v", got)
	}
}

// A plan is made for all targets, and the configuration holds for what it says.
func TestPlanTargets(t *testing.T) {
	side := func(field string) xdslint.Input {
		return texts(`
node: {id: edge-1, cluster: edge}
static_resources:
  clusters:
  - name: c
    type: STATIC
    health_checks: [{timeout: 1s, interval: 5s, unhealthy_threshold: 3, healthy_threshold: 1, tcp_health_check: {}` + field + `}]
    load_assignment: {cluster_name: c, endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: 10.0.0.1, port_value: 80}}}}]}]}
`)
	}
	for target, want := range map[string]int{"envoy:1.36": 1, "envoy:1.40": 0} {
		o, err := linter(t, "", xdslint.Options{Targets: []string{target}}).Plan(t.Context(), side(""), side(", name: shallow"), xdslint.PlanOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(o.Broken.Diagnostics) != want || (o.Plan == nil) != (want > 0) {
			t.Errorf("%s: %q", target, found(o.Broken.Diagnostics))
		}
	}
	both := linter(t, "targets: ['envoy:1.40', 'envoy:1.36']", xdslint.Options{})
	o, err := both.Plan(t.Context(), side(""), side(", name: shallow"), xdslint.PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if all := o.Broken.Diagnostics; len(all) != 1 || !slices.Contains(all[0].Notes, "only for envoy:1.36") {
		t.Errorf("%+v", all)
	}
	off := linter(t, "targets: ['envoy:1.36']\nseverities: {version: off}", xdslint.Options{})
	if o, err = off.Plan(t.Context(), side(""), side(", name: shallow"), xdslint.PlanOptions{}); err != nil || len(o.Broken.Diagnostics) > 0 {
		t.Errorf("%v: %q", err, found(o.Broken.Diagnostics))
	}
}

// A rule that panics for each target is reported once.
func TestTargetsPanic(t *testing.T) {
	broken := (&lint.Group{Name: "test"}).Add(&lint.Rule{Name: "broken", Severity: lint.Error, Run: lint.ForSnapshot(func(*lint.Pass) { panic("oops") })})
	config, err := xdslint.ReadConfig("", xdslint.CustomRules(broken))
	if err != nil {
		t.Fatal(err)
	}
	l, err := xdslint.New(xdslint.Options{Config: config, Select: []string{"test"}, Targets: []string{"envoy:1.36", "envoy:1.40"}})
	if err != nil {
		t.Fatal(err)
	}
	if r := linted(t, l, texts(bootstrap)); len(r.Failures) != 1 {
		t.Errorf("%v", r.Failures)
	}
}

// An ignore that hides nothing is a finding where the input is all that there is.
func TestWhole(t *testing.T) {
	l := linter(t, "ignores: [{rule: route, reason: x}]", xdslint.Options{})
	expect(t, found(linted(t, l, texts(bootstrap)).Diagnostics), "error schema/constraint")
	expect(t, found(linted(t, l, texts(bootstrap).Whole()).Diagnostics), "warning suppress/unused", "error schema/constraint")
}

// What a report shows holds no secret, and what is fixed keeps it.
func TestSecretsAreNotShown(t *testing.T) {
	leaks := (&lint.Group{Name: "test"}).Add(&lint.Rule{Name: "leaks", Severity: lint.Error, Run: lint.ForSnapshot(func(p *lint.Pass) {
		for _, r := range p.Snapshot.All() {
			p.ReportResource(r, lint.Diagnostic{Message: "it is hunter2-hunter2"})
		}
	})})
	config, err := xdslint.ReadConfig("", xdslint.CustomRules(leaks))
	if err != nil {
		t.Fatal(err)
	}
	leaks.Origin = &lint.Origin{Name: "test"}
	l, err := xdslint.New(xdslint.Options{Config: config, Select: []string{"test"}})
	if err != nil {
		t.Fatal(err)
	}
	r := linted(t, l, texts(`
"@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret
name: token
generic_secret: {secret: {inline_string: hunter2-hunter2}}
`))
	if len(r.Diagnostics) != 1 || strings.Contains(r.Diagnostics[0].Message, "hunter2") {
		t.Errorf("%q", r.Diagnostics[0].Message)
	}
	for _, format := range []string{"text", "concise", "json", "jsonl", "sarif", "github", "junit", "checkstyle"} {
		var b strings.Builder
		if err := r.Write(&b, format); err != nil || strings.Contains(b.String(), "hunter2") {
			t.Errorf("%s: %v\n%s", format, err, &b)
		}
	}
}

// An interrupted run says what it found until then, and that it was interrupted.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := linter(t, "", xdslint.Options{}).Lint(ctx, texts(bootstrap))
	if !errors.Is(err, context.Canceled) || r == nil {
		t.Errorf("%v, %v", r, err)
	}
}

// The playground holds all that the package imports.
func TestNothingLargeIsImported(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for path := range strings.Lines(string(out)) {
		for _, large := range []string{"net/http", "google.golang.org/grpc", "github.com/tetratelabs/wazero", "github.com/google/cel-go", "github.com/spf13/cobra"} {
			if strings.HasPrefix(path, large) {
				t.Errorf("%s is too large for the browser", strings.TrimSpace(path))
			}
		}
	}
}

func TestErrors(t *testing.T) {
	for want, o := range map[string]xdslint.Options{
		`no rule or group is named "x"`: {Select: []string{"x"}},
		`unknown target`:                {Targets: []string{"envoy:0.1"}},
		`invalid severity "x"`:          {FailOn: "x"},
	} {
		if _, err := xdslint.New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	l := linter(t, "", xdslint.Options{})
	for want, try := range map[string]func() error{
		"nothing to read":  func() error { _, err := l.Lint(t.Context(), xdslint.Paths()); return err },
		"nothing to read:": func() error { _, err := l.Lint(t.Context(), xdslint.Input{}); return err },
		"only files and texts can be fixed": func() error {
			_, err := l.Fix(t.Context(), xdslint.Snapshots(&graph.Snapshot{}), false)
			return err
		},
		"a verdict is about one file": func() error { _, err := l.Verdict(t.Context(), xdslint.Paths("a", "b")); return err },
		"old holds": func() error {
			_, err := l.Plan(t.Context(), xdslint.Snapshots(&graph.Snapshot{}, &graph.Snapshot{}).Named("old"), texts(bootstrap), xdslint.PlanOptions{})
			return err
		},
	} {
		if err := try(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	var several *load.SeveralError
	twice := xdslint.Texts(map[string][]byte{"a.yaml": []byte(bootstrap + "  listeners: [{name: l}]"), "b.yaml": []byte(bootstrap + "  listeners: [{name: l}]")})
	if _, err := l.Plan(t.Context(), twice, texts(bootstrap), xdslint.PlanOptions{}); !errors.As(err, &several) || several.Input != "a.yaml, b.yaml" {
		t.Error(err)
	}
}

// A profile comes from the options, or else from the configuration, and says which rules run. The severities of the configuration apply to them.
func TestProfile(t *testing.T) {
	const edge = `admin: {address: {socket_address: {address: 0.0.0.0, port_value: 9901}}}
static_resources:
  listeners:
  - name: ingress
    address: {socket_address: {address: 0.0.0.0, port_value: 80}}
    per_connection_buffer_limit_bytes: 32768
    filter_chains: [{filters: [{name: tcp, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy, stat_prefix: a, cluster: a}}]}]
  clusters: [{name: a, per_connection_buffer_limit_bytes: 32768}]
`
	only := func(o xdslint.Options) xdslint.Options {
		o.Select = []string{"hardening"}
		return o
	}
	const admin, limit, overload = " hardening/admin-exposed", " hardening/no-connection-limit", " hardening/no-overload-manager"
	for _, c := range []struct {
		config, profile string
		want            []string
	}{
		{"", "", []string{"info" + admin}},
		{"", "edge", []string{"warning" + overload, "warning" + overload, "warning" + admin, "info" + limit}},
		{"profile: edge", "", []string{"warning" + overload, "warning" + overload, "warning" + admin, "info" + limit}},
		{"profile: edge", "internal", []string{"info" + admin}},
		{"profile: edge\nseverities: {hardening/no-overload-manager: off, hardening: error}", "", []string{"error" + admin, "error" + limit}},
		{"severities: {hardening: error}", "", []string{"error" + admin}},
	} {
		l := linter(t, c.config, only(xdslint.Options{Profile: c.profile}))
		got := found(linted(t, l, texts(edge)).Diagnostics)
		slices.Sort(got)
		slices.Sort(c.want)
		expect(t, got, c.want...)
	}
	for _, o := range []xdslint.Options{{Profile: "public"}, {Select: []string{"hardening/no-connection-limit"}}} {
		if _, err := xdslint.New(o); err == nil {
			t.Errorf("there is no error for %v", o)
		}
	}
}
