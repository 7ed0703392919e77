package playground_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/xdslint/xdslint/internal/playground"
)

type (
	files map[string]string
	place struct {
		File       string
		Start, End struct{ Line, Column, Offset int }
	}
	finding struct {
		Rule, Severity, Message string
		Notes                   []string
		Location                place
	}
)

// call asks the engine, and reads what it answers; the error is what the engine says is wrong with the request.
func call[A any](t *testing.T, operation string, request map[string]any) (answer A, fault string) {
	t.Helper()
	raw, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	out := (&playground.Engine{}).Call(operation, raw)
	var failed struct{ Error string }
	if err := json.Unmarshal(out, &failed); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	return answer, failed.Error
}

// TestTargetsByPath: texts have folders too, as seen from that of the configuration.
func TestTargetsByPath(t *testing.T) {
	const maglev = `{"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: orders, type: EDS, eds_cluster_config: {eds_config: {ads: {}, resource_api_version: V3}}, lb_policy: MAGLEV}`
	texts := files{"shop/.xdslint.yaml": "targets-by-path: {clients/: [grpc-java]}", "shop/clients/a.yaml": maglev, "shop/b.yaml": strings.Replace(maglev, "orders", "web", 1)}
	for _, c := range []struct {
		targets []string
		want    []string
	}{
		{nil, []string{"shop/clients/a.yaml"}},
		{[]string{"grpc-go"}, []string{"shop/b.yaml", "shop/clients/a.yaml"}},
		{[]string{"envoy:1.40"}, nil},
	} {
		var got []string
		for _, d := range mustCall[lintAnswer](t, "lint", map[string]any{"files": texts, "targets": c.targets}).Diagnostics {
			if d.Rule == "grpc/load-balancing-unsupported" {
				got = append(got, d.Location.File)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("for %v, gRPC rejects the policy in %v, want %v", c.targets, got, c.want)
		}
	}
}

func mustCall[A any](t *testing.T, operation string, request map[string]any) A {
	t.Helper()
	answer, fault := call[A](t, operation, request)
	if fault != "" {
		t.Fatalf("%s: %s", operation, fault)
	}
	return answer
}

type lintAnswer struct {
	Diagnostics []finding
	More        int
	Summary     struct{ Errors, Warnings, Infos, Suppressed, Files, Skipped int }
	Files       []struct{ Name, As, Why string }
	Settings    []struct {
		Message  string
		Location place
	}
	Failures []struct{ Rule, Message string }
}

func lintOf(t *testing.T, texts files, targets ...string) *lintAnswer {
	t.Helper()
	answer := mustCall[lintAnswer](t, "lint", map[string]any{"files": texts, "targets": targets})
	return &answer
}

func (a *lintAnswer) rules() (ids []string) {
	for _, d := range a.Diagnostics {
		ids = append(ids, d.Rule)
	}
	return ids
}

const (
	cluster = "static_resources:\n  clusters:\n  - name: backend\n    type: STATIC\n    connect_timeout: 0s\n"
	routes  = `"@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration
name: edge
virtual_hosts:
- name: shop
  domains: ["*"]
  routes:
  - match: {prefix: /}
    route: {cluster: backend}
`
)

func TestLint(t *testing.T) {
	a := lintOf(t, files{"envoy.yaml": cluster, "notes.txt": "no xDS"})
	i := slices.Index(a.rules(), "schema/constraint")
	if i < 0 || a.Diagnostics[i].Location.Start.Line != 5 || a.Diagnostics[i].Location.Start.Column != 22 {
		t.Errorf("found %+v", a.Diagnostics)
	}
	if a.Files[0].As != "bootstrap" || a.Files[1].As != "" || a.Files[1].Why == "" || a.Summary.Files != 1 || a.Summary.Skipped != 1 {
		t.Errorf("read as %+v, %+v", a.Files, a.Summary)
	}
	if empty := lintOf(t, nil); len(empty.Diagnostics) > 0 {
		t.Errorf("nothing has findings: %+v", empty)
	}
}

func TestSettings(t *testing.T) {
	with := func(settings string) *lintAnswer {
		return lintOf(t, files{"envoy.yaml": cluster, "rds.yaml": routes, ".xdslint.yaml": settings})
	}
	severity := func(a *lintAnswer, rule string) string {
		for _, d := range a.Diagnostics {
			if d.Rule == rule {
				return d.Severity
			}
		}
		return ""
	}
	if a := with("severities: {schema/constraint: info}\n"); severity(a, "schema/constraint") != "info" || len(a.Settings) > 0 {
		t.Errorf("severities: %+v", a)
	}
	if a := with("severities: {schema/constraint: \"off\"}\n"); severity(a, "schema/constraint") != "" {
		t.Errorf("off: %+v", a)
	}
	if a := with("ignores: [{rule: schema/constraint, reason: it is meant}]\n"); severity(a, "schema/constraint") != "" || a.Summary.Suppressed != 1 {
		t.Errorf("ignores: %+v", a)
	}
	if a := with("ignores: [{rule: route/regex-invalid, reason: it is meant}]\n"); severity(a, "suppress/unused") != "warning" {
		t.Errorf("an ignore that hides nothing: %+v", a)
	}
	// What is wrong is said, where it is, and the rest holds.
	a := with("closed: [clusters]\nseverities:\n  schema/constraint: info\n  schema: loud\ntargets: [envoy:0.1]\n")
	if len(a.Settings) != 3 || a.Settings[0].Location.File != ".xdslint.yaml" || a.Settings[0].Location.Start.Line != 1 || a.Settings[1].Location.Start.Line != 4 {
		t.Errorf("faults: %+v", a.Settings)
	}
	if severity(a, "schema/constraint") != "info" {
		t.Errorf("the rest does not hold: %+v", a.Diagnostics)
	}
	if a := with("{"); len(a.Settings) != 1 || severity(a, "schema/constraint") != "error" {
		t.Errorf("no YAML: %+v", a)
	}
}

// TestWorld: assume, open and closed of the configuration say what a missing name means.
func TestWorld(t *testing.T) {
	unknown := func(settings string) []string {
		var severities []string
		for _, d := range lintOf(t, files{"rds.yaml": routes, ".xdslint.yaml": settings}).Diagnostics {
			if d.Rule == "reference/route-unknown-cluster" {
				severities = append(severities, d.Severity)
			}
		}
		return severities
	}
	for settings, want := range map[string]string{"closed: [cluster]": "[error]", "open: [cluster]": "[]", "{closed: [cluster], assume: [\"cluster:back*\"]}": "[]"} {
		if got := fmt.Sprint(unknown(settings)); got != want {
			t.Errorf("%s: %s, want %s", settings, got, want)
		}
	}
}

// TestFolderOfSettings: of several configurations the one nearest to the root counts, and the others say that they do not.
func TestFolderOfSettings(t *testing.T) {
	a := lintOf(t, files{
		"shop/envoy.yaml": cluster, "shop/.xdslint.yaml": `severities: {"*": "off"}`, "shop/deep/.xdslint.yaml": `severities: {"*": error}`,
	})
	if len(a.Diagnostics) > 0 || len(a.Files) != 3 || !strings.Contains(a.Files[2].Why, "shop/.xdslint.yaml") {
		t.Errorf("%+v", a)
	}
}

func TestSuppressed(t *testing.T) {
	text := strings.Replace(cluster, "0s\n", "0s # xdslint:ignore=schema/constraint -- it is set later\n", 1)
	if a := lintOf(t, files{"envoy.yaml": text}); slices.Contains(a.rules(), "schema/constraint") || a.Summary.Suppressed != 1 {
		t.Errorf("%+v", a)
	}
}

func TestTargets(t *testing.T) {
	text := strings.Replace(cluster, "0s\n", "1s\n    health_checks:\n    - {name: ping, timeout: 1s, interval: 1s, unhealthy_threshold: 2, healthy_threshold: 2, http_health_check: {path: /}}\n", 1)
	a := lintOf(t, files{"envoy.yaml": text}, "envoy:1.39", "envoy:1.40")
	i := slices.Index(a.rules(), "version/too-new")
	if i < 0 || !slices.Contains(a.Diagnostics[i].Notes, "only for envoy:1.39") {
		t.Errorf("found %+v", a.Diagnostics)
	}
	if a := lintOf(t, files{"envoy.yaml": text, ".xdslint.yaml": "targets: [envoy:1.40]"}); slices.Contains(a.rules(), "version/too-new") {
		t.Errorf("found %+v", a.Diagnostics)
	}
}

// TestMany: an answer holds the gravest findings, and counts all.
func TestMany(t *testing.T) {
	var b strings.Builder
	b.WriteString("static_resources:\n  clusters:\n")
	for i := range 1500 {
		fmt.Fprintf(&b, "  - {name: c%d, type: STATIC, connect_timeout: 0s}\n", i)
	}
	a := lintOf(t, files{"envoy.yaml": b.String()})
	all := a.Summary.Errors + a.Summary.Warnings + a.Summary.Infos
	if len(a.Diagnostics) != 1000 || a.More != all-1000 || a.Summary.Errors < 1500 {
		t.Errorf("%d findings, %d more, %+v", len(a.Diagnostics), a.More, a.Summary)
	}
	if i := slices.IndexFunc(a.Diagnostics, func(d finding) bool { return d.Severity != "error" }); i >= 0 {
		t.Errorf("there are more errors, and this is one of the findings: %+v", a.Diagnostics[i])
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		operation string
		request   map[string]any
		want      string
	}{
		{"dance", nil, `no operation is named "dance": about, explain, fix,`},
		{"lint", map[string]any{"files": 3}, "the request is malformed"},
		{"lint", map[string]any{"targets": []string{"envoy:0.1"}}, `unknown target "envoy:0.1"`},
		{"verdict", map[string]any{"targets": []string{"envoy:0.1"}}, `unknown target "envoy:0.1"`},
		{"explain", map[string]any{"rule": "no/such"}, `no rule is named "no/such"`},
		{"plan", map[string]any{"before": files{}, "files": files{"a.yaml": cluster}}, "before: there is no xDS"},
		{"plan", map[string]any{"before": files{"a.yaml": "{"}, "files": files{"a.yaml": cluster}}, "a.yaml:1:"},
		{"plan", map[string]any{"transport": "pigeon"}, `invalid transport "pigeon"`},
		{"lint", map[string]any{"files": files{"a.yaml": strings.Repeat("#", 33<<20)}}, "this is too much at once: the limit is 32 MiB"},
	} {
		if _, fault := call[struct{}](t, c.operation, c.request); !strings.Contains(fault, c.want) {
			t.Errorf("%s %.60v: %q, want %q", c.operation, c.request, fault, c.want)
		}
	}
}

// TestOdd: unusual names and texts are judged like others.
func TestOdd(t *testing.T) {
	for _, name := range []string{"", "-", "/", "..", "../../x.yaml", "a\nb.yaml", "__proto__", "ü.yaml", "a.JSON"} {
		for _, text := range []string{"", "\x00", "{", "}", "- - -", "a: *b", "&a [*a]", cluster, "\ufeff" + cluster, `{"resources": [3]}`} {
			a := lintOf(t, files{name: text})
			if len(a.Files) != 1 || a.Files[0].Name != name || len(a.Failures) > 0 {
				t.Errorf("%q %q: %+v", name, text, a)
			}
			for _, operation := range []string{"graph", "fix", "verdict", "redact"} {
				mustCall[struct{}](t, operation, map[string]any{"files": files{name: text}})
			}
		}
	}
}
