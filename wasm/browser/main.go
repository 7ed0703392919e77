//go:build js && wasm

// The browser command is the engine that the playground loads: a function xdslint(operation, request) → answer, both JSON.
package main

import (
	"runtime"
	"runtime/debug"
	"syscall/js"

	"github.com/xdslint/xdslint/engine"
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
	js.Global().Set("xdslint", js.FuncOf(func(_ js.Value, args []js.Value) any {
		return string(engine.Call(args[0].String(), []byte(args[1].String())))
	}))
	select {}
}
