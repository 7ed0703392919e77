package playground_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules"
)

type example struct {
	Before, Files       files
	Targets             []string
	Transport, Versions string
}

// TestExplain: the examples of every rule are ready to be judged: the bad one shows what the rule finds, and the good one does not.
func TestExplain(t *testing.T) {
	profiled := map[string]bool{}
	for _, r := range rules.Builtin() {
		profiled[r.ID()] = r.Profiles != nil
	}
	for _, r := range rules.All() {
		rule := mustCall[struct {
			ID, Page  string
			Bad, Good *example
		}](t, "explain", map[string]any{"rule": r.ID()})
		if rule.ID != r.ID() || !strings.Contains(rule.Page, r.ID()) {
			t.Errorf("%s: the page is %q", r.ID(), rule.Page)
		}
		if rule.Bad == nil || rule.Good == nil {
			if r.ID() != "suppress/stale-baseline" && r.ID() != "tls/missing-file" && r.Group != lint.Custom.Name {
				t.Errorf("%s has no example", r.ID())
			}
			continue
		}
		if r.Transitional() {
			if found := hazards(t, rule.Bad); !slices.Contains(found, r.ID()) {
				t.Errorf("%s: the bad example has %v", r.ID(), found)
			}
			if found := hazards(t, rule.Good); slices.Contains(found, r.ID()) {
				t.Errorf("%s is found in the good example", r.ID())
			}
			continue
		}
		if found := lintOf(t, rule.Bad.Files, rule.Bad.Targets...).rules(); !slices.Contains(found, r.ID()) {
			t.Errorf("%s: the bad example has %v", r.ID(), found)
		}
		found := lintOf(t, rule.Good.Files, rule.Good.Targets...).rules()
		if strings.Contains(rule.Good.Files[".xdslint.yaml"], "profile:") { // in which other rules of the profile find something
			found = slices.DeleteFunc(found, func(id string) bool { return id != r.ID() && profiled[id] })
		}
		if len(found) > 0 {
			t.Errorf("%s: the good example has %v", r.ID(), found)
		}
	}
}

func hazards(t *testing.T, e *example) (ids []string) {
	t.Helper()
	answer := mustCall[struct{ Hazards, Notes, Broken []finding }](t, "plan", map[string]any{
		"before": e.Before, "files": e.Files, "targets": e.Targets, "transport": e.Transport, "versions": e.Versions,
	})
	for _, d := range append(answer.Hazards, answer.Notes...) {
		ids = append(ids, d.Rule)
	}
	return ids
}

func TestAbout(t *testing.T) {
	a := mustCall[struct {
		Version, Default              string
		Targets, Transports, Versions []string
		Types                         []struct{ Type, Kind, API string }
		Rules                         []struct{ ID, Severity, Summary string }
	}](t, "about", nil)
	if !slices.Contains(a.Targets, a.Default) || a.Version == "" || a.Transports[0] != "ads-sotw" || a.Versions[0] != "per-type" {
		t.Errorf("%+v", a)
	}
	if len(a.Rules) != len(rules.All()) || !strings.HasSuffix(a.Rules[0].Summary, ".") {
		t.Errorf("%d rules, %+v", len(a.Rules), a.Rules[0])
	}
	if i := slices.IndexFunc(a.Types, func(t struct{ Type, Kind, API string }) bool { return t.API == "CDS" }); i < 0 || a.Types[i].Type != "type.googleapis.com/envoy.config.cluster.v3.Cluster" {
		t.Errorf("%+v", a.Types)
	}
}

func TestGraph(t *testing.T) {
	state := func(settings string) string {
		a := mustCall[struct {
			Nodes []struct{ ID, State string }
			Edges []struct {
				From, To string
				Location *place
			}
		}](t, "graph", map[string]any{"files": files{"rds.yaml": routes, ".xdslint.yaml": settings}})
		if len(a.Edges) != 1 || a.Edges[0].Location.Start.Line != 8 {
			t.Errorf("edges: %+v", a.Edges)
		}
		return a.Nodes[len(a.Nodes)-1].State
	}
	if a, b := state("closed: [cluster]"), state("open: [cluster]"); a != "missing" || b != "open" {
		t.Errorf("missing: %s, open: %s", a, b)
	}
}

func TestFix(t *testing.T) {
	fix := func(unsafe bool) (files, int) {
		a := mustCall[struct {
			Files   files
			Applied int
		}](t, "fix", map[string]any{"unsafe": unsafe, "files": files{
			"envoy.yaml": "node: {id: 42, cluster: edge} # one of many\n", "good.yaml": routes, ".xdslint.yaml": "open: [cluster]",
		}})
		return a.Files, a.Applied
	}
	if fixed, n := fix(false); n != 1 || len(fixed) != 1 || fixed["envoy.yaml"] != "node: {id: \"42\", cluster: edge} # one of many\n" {
		t.Errorf("%d fixed: %q", n, fixed)
	}
	typo := files{"envoy.yaml": cluster[:strings.Index(cluster, "connect")] + "conect_timeout: 1s\n"}
	count := func(unsafe bool) int {
		return mustCall[struct{ Applied int }](t, "fix", map[string]any{"files": typo, "unsafe": unsafe}).Applied
	}
	if safe, all := count(false), count(true); safe > all || all == 0 {
		t.Errorf("%d safe ones, %d in all", safe, all)
	}
}

func TestVerdict(t *testing.T) {
	a := mustCall[struct {
		Verdicts []struct {
			Path, Target, Verdict string
			Reasons               []struct{ Line int }
		}
	}](t, "verdict", map[string]any{"targets": []string{"envoy:1.39", "envoy:1.40"}, "files": files{
		"bad.yaml": cluster, "good.yaml": routes, ".xdslint.yaml": `severities: {"*": "off"}`,
	}})
	var got []string
	for _, v := range a.Verdicts {
		got = append(got, v.Path+" "+v.Target+" "+v.Verdict)
	}
	want := []string{"bad.yaml envoy:1.39 reject", "bad.yaml envoy:1.40 reject", "good.yaml envoy:1.39 accept", "good.yaml envoy:1.40 accept"}
	if !slices.Equal(got, want) || a.Verdicts[0].Reasons[0].Line != 5 {
		t.Errorf("%v, %+v", got, a.Verdicts)
	}
}

func TestRedact(t *testing.T) {
	texts := files{
		"sds.yaml":      "resources:\n- \"@type\": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret\n  name: edge\n  tls_certificate: {password: {inline_string: correct-horse}}\n",
		".xdslint.yaml": "open: [cluster] # token: battery-staple\n",
		"plain.yaml":    cluster,
	}
	answer := mustCall[struct {
		Files   files
		Secrets []struct {
			What     string
			Location place
		}
	}](t, "redact", map[string]any{"files": texts})
	raw, err := json.Marshal(answer)
	if err != nil || strings.Contains(string(raw), "correct-horse") || strings.Contains(string(raw), "battery-staple") {
		t.Errorf("%v: a secret is left: %s", err, raw)
	}
	if answer.Files["plain.yaml"] != cluster {
		t.Errorf("without a secret: %q", answer.Files["plain.yaml"])
	}
	if len(answer.Secrets) != 2 || answer.Secrets[1].Location.Start.Line != 4 || !strings.HasSuffix(answer.Secrets[1].What, "tls_certificate.password.inline_string") {
		t.Errorf("found %+v", answer.Secrets)
	}
}
