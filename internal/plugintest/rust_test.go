package plugintest_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/plugintest"
	"github.com/xdslint/xdslint/internal/ruletest"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/wasm/plugin"
)

const crate = "everything"

// TestSDK runs a plugin that does all that the SDK can do, and more than it should.
func TestSDK(t *testing.T) {
	t.Chdir(filepath.Join("..", "..", "sdk", "rust"))
	file := &source.File{Name: filepath.Join("testdata", crate, "rules.wasm"), Text: plugintest.Rust(t, filepath.Join("testdata", crate), crate)}
	open := func(t *testing.T, limit time.Duration) []*lint.Rule {
		t.Helper()
		p, err := plugin.Open(t.Context(), file, plugin.Options{Memory: 64 << 20, Time: limit})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := p.Close(context.Background()); err != nil {
				t.Error(err)
			}
		})
		return p.Rules()
	}
	rules := open(t, 5*time.Minute) // on a busy machine, what ends by itself may take long
	t.Run("described", func(t *testing.T) { described(t, rules) })
	t.Run("archives", func(t *testing.T) { archives(t, rules) })
	for rule, want := range map[string]string{
		"t/panics":     `crashed: no idea about "orders" (src/lib.rs:`,
		"t/undeclared": "crashed: rule t/undeclared does not read envoy.config.cluster.v3.Cluster: name it in its check (",
		"t/wrong-type": "crashed: rule t/wrong-type declares envoy.config.cluster.v3.Cluster otherwise than Envoy's API: ",
		"t/hungry":     "crashed: ",
	} {
		t.Run(rule, func(t *testing.T) { cannotJudge(t, ruleOf(rules, rule), want) })
	}
	t.Run("t/endless", func(t *testing.T) { cannotJudge(t, ruleOf(open(t, 2*time.Second), "t/endless"), "took longer than 2s") })
}

// TestCrate runs the tests that are written in Rust, the example in the documentation among them.
func TestCrate(t *testing.T) { plugintest.Cargo(t, filepath.Join("..", "..", "sdk", "rust"), "test") }

func ruleOf(rules []*lint.Rule, id string) *lint.Rule {
	return rules[slices.IndexFunc(rules, func(r *lint.Rule) bool { return r.ID() == id })]
}

func described(t *testing.T, rules []*lint.Rule) {
	r := ruleOf(rules, "t/places")
	if r.Severity != lint.Info || r.Summary != "a test" || r.Why != "*Because*." || !slices.Equal(r.Links, []string{"https://acme.example/"}) {
		t.Errorf("%+v", r)
	}
}

// archives holds what the rules that go well find, and fix.
func archives(t *testing.T, rules []*lint.Rule) {
	result, err := ruletest.Run(t.Context(), rules, ruletest.Options{Update: *update})
	if err != nil {
		t.Fatal(err)
	}
	if result.Archives != 4 {
		t.Errorf("%d archives", result.Archives)
	}
	for _, fault := range result.Faults {
		t.Errorf("%s: %s (go test ./internal/plugintest -update writes it)\n%s", fault.Path, fault.Message, fault.Diff)
	}
}

// cannotJudge: a rule that goes wrong becomes one finding that says why.
func cannotJudge(t *testing.T, rule *lint.Rule, want string) {
	input, err := load.Texts(t.Context(), map[string][]byte{"envoy.yaml": []byte("static_resources: {clusters: [{name: orders}]}")}, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	result := lint.Run(t.Context(), input.Snapshots, lint.Config{Rules: []*lint.Rule{rule}})
	if len(result.Diagnostics) != 1 || len(result.Failures) > 0 {
		t.Fatalf("%+v", result)
	}
	d := result.Diagnostics[0]
	if text := strings.Join(append([]string{d.Message}, d.Notes...), "; "); d.Rule != lint.CannotJudge || !strings.HasPrefix(text, "plugin rules.wasm "+want) {
		t.Errorf("it says %q, not %q", text, want)
	}
}
