package plugin_test

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/wasm/plugin"
)

// allocated returns how many bytes a call allocates, on any goroutine.
func allocated(call func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	call()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// tangled has so many loops and locals, and each loop reads one of them and writes another.
func tangled(loops, locals int) guest {
	local := func(op byte, i int) []byte { return join([]byte{op}, unsigned(10+i%locals)) }
	var code [][]byte
	for i := range loops {
		code = append(code, []byte{0x03, 0x40}, local(0x20, i), local(0x21, 7*i))
	}
	code = append(code, slicesOf(loops, []byte{0x0b})...)
	return guest{check: join(join(code...), zero64), locals: vector(join(unsigned(locals+10), []byte{0x7f}))}
}

// TestCostOfCompiling: a small function can make wazero's compiler keep all variables for each block. 323 kB took 4.8 GB.
func TestCostOfCompiling(t *testing.T) {
	const limit = 500 << 20
	module := tangled(600, 600).module()
	var err error
	if n := allocated(func() { _, err = open(t, module, plugin.Options{}) }); err != nil || n > limit {
		t.Errorf("%d bytes take %d MB: %v", len(module), n>>20, err)
	}
	for _, hostile := range []guest{tangled(3000, 9000), tangled(300, 9000), tangled(12_000, 120)} {
		if n := allocated(func() { _, err = open(t, hostile.module(), plugin.Options{}) }); n > limit/10 {
			t.Errorf("it takes %d MB", n>>20)
		}
		if err == nil || !strings.Contains(err.Error(), "which would take too much memory to compile: split it") {
			t.Error(err)
		}
	}
	many := guest{more: func(s map[byte][]byte) {
		one := sized(join(vector(join(unsigned(8000), []byte{0x7f})), join(slicesOf(120, []byte{0x02, 0x40, 0x0b})...), []byte{0x0b}))
		s[10] = vector(slicesOf(60, one)...)
	}}
	if _, err = open(t, many.module(), plugin.Options{}); err == nil || !strings.Contains(err.Error(), "has functions with too many variables in too many blocks to compile") {
		t.Error(err)
	}
}

// TestCostOfGrowing: a plugin that grows its memory little by little takes not much more than it may have.
func TestCostOfGrowing(t *testing.T) {
	grows := again(i32(1), []byte{0x40, 0x00}, i32(-1), []byte{0x46, 0x04, 0x40, 0x00, 0x0b}) // until it cannot
	p, err := open(t, guest{check: join(grows, zero64)}.module(), plugin.Options{Memory: memory})
	if err != nil {
		t.Fatal(err)
	}
	var result *lint.Result
	if n := allocated(func() { result = lintWith(t, p) }); n < memory || n > 2*memory {
		t.Errorf("it takes %d MB, and may have %d MB", n>>20, memory>>20)
	}
	if got := reported(result.Diagnostics); !slices.ContainsFunc(got, func(text string) bool { return strings.HasSuffix(text, "crashed: unreachable") }) {
		t.Errorf("it does not grow: %q", got)
	}
}
