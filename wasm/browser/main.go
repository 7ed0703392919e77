//go:build js && wasm

// The browser command is the engine that the playground loads: a function xdslint(operation, request) → answer, both JSON. With the tag constraints it is
// the larger one, which knows CEL.
package main

import (
	"runtime"
	"runtime/debug"
	"syscall/js"

	"github.com/xdslint/xdslint/internal/playground"
)

// collect takes all garbage away: what is kept of a memory (web/scripts/preinitialise.ts) should be without.
//
//go:wasmexport collect
func collect() {
	runtime.GC()
	runtime.GC() // finishes what the first one began
}

// One thread does the work and takes the garbage away: the less often, the better, as long as there is memory. A browser gives 4 GiB.
const (
	garbagePercent = 400
	memoryLimit    = 1 << 30
)

func main() {
	debug.SetGCPercent(garbagePercent)
	debug.SetMemoryLimit(memoryLimit)
	e := playground.Engine{Custom: makeRules}
	answer = js.FuncOf(func(_ js.Value, args []js.Value) any {
		small() // so that what refers to the arguments shares no block with what the engine keeps: see alone
		return alone(e.Call(args[0].String(), []byte(args[1].String())))
	})
	js.Global().Set("xdslint", answer)
	small() // so that what refers to the first call shares no block with what refers to the function
	select {}
}

// answer is the function that JavaScript calls. It is kept, so that web/src/engine/go.ts can rely on it.
var answer js.Func

// alone is an answer for JavaScript. Go refers to it by eight bytes, which share a block with another small object and are kept as long as that one: between
// two that nobody keeps, the answer is let go of, and web/scripts/preinitialise.ts finds no value that should not be there.
func alone(text []byte) js.Value {
	before := small()
	value := js.ValueOf(string(text))
	after := small()
	runtime.KeepAlive(before)
	runtime.KeepAlive(after)
	return value
}

//go:noinline
func small() *uint64 { return new(uint64) }
