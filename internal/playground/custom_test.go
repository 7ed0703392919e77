package playground_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/xdslint/xdslint/custom"
	"github.com/xdslint/xdslint/internal/playground"
	"github.com/xdslint/xdslint/internal/requestbar"
	"github.com/xdslint/xdslint/rules"
)

// larger is the engine that knows constraints and follows requests.
var larger = &playground.Engine{Custom: custom.Constraints(rules.All(), nil), Follow: requestbar.Follow, Holes: requestbar.FindHoles}

// callOf asks one of the engines.
func callOf[A any](t *testing.T, e *playground.Engine, operation string, request map[string]any) (answer A) {
	t.Helper()
	raw, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	if out := e.Call(operation, raw); json.Unmarshal(out, &answer) != nil {
		t.Fatalf("%s: %s", operation, out)
	}
	return answer
}

type judged struct {
	lintAnswer
	Needs string
}

const named = `constraints:
- id: acme/cluster-name
  message: envoy.config.cluster.v3.Cluster
  field: name
  expression: this.contains('-')
  text: cluster names are team-service
  why: Dashboards read the team out of it.
severities: {acme/cluster-name: warning}
ignores: [{rule: acme/cluster-name, resource: cluster/old*, reason: it goes away in May}]
`

// TestNeeds: without CEL, all other rules judge, constraints in the configuration are not mistakes, and the answer says that CEL is missing.
func TestNeeds(t *testing.T) {
	text := strings.Replace(cluster, "0s\n", "0s\n# xdslint:ignore=acme/cluster-name -- known\n", 1)
	request := map[string]any{"files": files{"envoy.yaml": text, ".xdslint.yaml": named}}
	a := callOf[judged](t, &playground.Engine{}, "lint", request)
	if a.Needs != "constraints" || len(a.Settings) > 0 || a.Summary.Suppressed > 0 {
		t.Errorf("%+v", a)
	}
	if got := a.rules(); !slices.Contains(got, "schema/constraint") || strings.Contains(strings.Join(got, " "), "suppress/") {
		t.Errorf("found %v", got)
	}
	for _, operation := range []string{"fix", "graph", "verdict", "redact"} {
		if answer := callOf[map[string]any](t, &playground.Engine{}, operation, request); answer["error"] != nil || answer["needs"] != nil {
			t.Errorf("%s: %v", operation, answer)
		}
	}
	request["rule"] = "acme/cluster-name"
	if answer := callOf[map[string]any](t, &playground.Engine{}, "explain", request); answer["error"] != "acme/cluster-name is a constraint, which this engine does not know" {
		t.Errorf("explain: %v", answer)
	}
	for _, settings := range []string{"", "constraints: []\n", "constraints: [\n"} {
		if a := callOf[judged](t, &playground.Engine{}, "lint", map[string]any{"files": files{"envoy.yaml": cluster, ".xdslint.yaml": settings}}); a.Needs != "" {
			t.Errorf("%q needs %s", settings, a.Needs)
		}
	}
}

// TestConstraints: findings of custom rules are like all others, and the rules can be explained.
func TestConstraints(t *testing.T) {
	request := map[string]any{"files": files{"envoy.yaml": cluster, ".xdslint.yaml": named}, "rule": "acme/cluster-name"}
	a := callOf[judged](t, larger, "lint", request)
	i := slices.Index(a.rules(), "acme/cluster-name")
	if i < 0 || a.Needs != "" || len(a.Settings) > 0 {
		t.Fatalf("%+v", a)
	}
	d := a.Diagnostics[i]
	if at := d.Location.Start; d.Severity != "warning" || d.Message != "cluster names are team-service" || at.Line != 3 || at.Column != 11 {
		t.Errorf("found %+v", d)
	}
	rule := callOf[struct{ ID, Severity, Summary, Page string }](t, larger, "explain", request)
	if rule.ID != "acme/cluster-name" || rule.Summary != "Cluster names are team-service." || !strings.Contains(rule.Page, "Dashboards read the team out of it.") {
		t.Errorf("explained as %+v", rule)
	}
}

// TestFaultsOfCustomRules: mistakes in constraints are reported with their place, and the other constraints still judge.
func TestFaultsOfCustomRules(t *testing.T) {
	settings := named + `plugins: [{path: rules.wasm}]
`
	settings = strings.Replace(settings, "constraints:\n", "constraints:\n- {id: acme/wrong, message: envoy.config.cluster.v3.Cluster, expression: this.nme != '', text: no name}\n", 1)
	a := callOf[judged](t, larger, "lint", map[string]any{"files": files{"envoy.yaml": cluster, ".xdslint.yaml": settings}})
	if !slices.Contains(a.rules(), "acme/cluster-name") || len(a.Settings) != 2 {
		t.Fatalf("%+v", a)
	}
	at := func(i int) string {
		return settings[a.Settings[i].Location.Start.Offset:a.Settings[i].Location.End.Offset]
	}
	if wrong := a.Settings[0].Message; at(0) != "nme" || !strings.Contains(wrong, `did you mean "name"?`) {
		t.Errorf("at %s: %s", at(0), wrong)
	}
	if wrong := a.Settings[1].Message; at(1) != "rules.wasm" || wrong != "plugins do not run here; the command xdslint runs them" {
		t.Errorf("at %s: %s", at(1), wrong)
	}
}
