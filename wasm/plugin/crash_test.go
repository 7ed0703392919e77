package plugin_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/xdslint/xdslint/internal/plugintest"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/wasm/plugin"
)

// TestCrashesOfGo: what Go writes before it ends is the finding.
func TestCrashesOfGo(t *testing.T) {
	module := plugintest.Go(t, "testdata/crash")
	p, err := open(t, module, plugin.Options{Memory: memory, Cache: plugintest.Compiled(t, module)})
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{
		"acme/index":    "crashed: panic: runtime error: index out of range [0] with length 0",
		"acme/late":     "crashed: panic: runtime error: index out of range [0] with length 0",
		"acme/memory":   "crashed: runtime: out of memory: cannot allocate",
		"acme/deadlock": "crashed: fatal error: all goroutines are asleep - deadlock!",
	} {
		t.Run(id, func(t *testing.T) {
			i := slices.IndexFunc(p.Rules(), func(r *lint.Rule) bool { return r.ID() == id })
			got := reported(lint.Run(t.Context(), snapshots(t, bootstrap), lint.Config{Rules: p.Rules()[i : i+1]}).Diagnostics)
			if len(got) != 1 || !strings.HasPrefix(got[0], "house/rules.wasm error[house/cannot-judge]: plugin rules.wasm "+want) {
				t.Errorf("got %q", got)
			}
		})
	}
}
