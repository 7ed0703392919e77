package plugin_test

import (
	"strings"
	"testing"
	"time"

	"github.com/xdslint/xdslint/internal/pluginabi"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/wasm/plugin"
)

// FuzzModule: opening a module ends, with an error that names the file or with a plugin that can be asked.
func FuzzModule(f *testing.F) {
	for _, g := range []guest{
		{},
		{answer: found(func(*pluginabi.Finding) {})},
		{imports: wasiFunction("sched_yield", toI32), check: join(call(0), drop, zero64)},
		{table: vector([]byte{0x70, 0, 1}), check: join([]byte{0xd0, 0x70}, i32(1), []byte{0xfc, 0x0f, 0x00}, drop, zero64)},
		{start: unreachable, startAtOnce: true},
	} {
		f.Add(g.module())
	}
	all := snapshots(f, bootstrap)
	f.Fuzz(func(t *testing.T, module []byte) {
		p, err := plugin.Open(t.Context(), &source.File{Name: "rules.wasm", Text: module}, plugin.Options{Time: time.Second / 5})
		if err != nil {
			if text := err.Error(); !strings.HasPrefix(text, "rules.wasm: ") || strings.ContainsFunc(text, func(c rune) bool { return c < ' ' }) {
				t.Errorf("got %q", text)
			}
			return
		}
		result := lint.Run(t.Context(), all, lint.Config{Rules: p.Rules()})
		for _, failure := range result.Failures {
			t.Errorf("%v\n%s", failure, failure.Stack)
		}
		if err := p.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
