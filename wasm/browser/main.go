//go:build wasip1

// The browser command is the engine that the playground loads. It is a WASI reactor: the host calls allocate, writes an
// operation, a space and a request to the memory it gets, and calls call. With the tag larger it is the larger engine,
// which knows CEL and follows requests. Package internal/playground explains why there are two, and how a browser
// starts them.
package main

import (
	"bytes"
	"runtime"
	"runtime/debug"
	"unsafe"
)

// One thread lints and collects garbage: the less often it collects, the better, as long as there is memory. A browser gives 4 GiB.
const (
	garbagePercent = 400
	memoryLimit    = 1 << 30
)

func init() {
	debug.SetGCPercent(garbagePercent)
	debug.SetMemoryLimit(memoryLimit)
}

func main() {}

// The host knows the addresses of both, so they are kept.
var request, answer []byte

var engine = newEngine()

//go:wasmexport allocate
func allocate(size uint32) unsafe.Pointer {
	request = make([]byte, size)
	return unsafe.Pointer(unsafe.SliceData(request))
}

// call returns the address of the answer in the upper 32 bits, and its length in the lower.
//
//go:wasmexport call
func call() uint64 {
	operation, text, _ := bytes.Cut(request, []byte(" "))
	answer = engine.Call(string(operation), text)
	request = nil
	return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(answer))))<<32 | uint64(len(answer))
}

// collect frees what no later call needs, before web/scripts/preinitialise.ts keeps the memory.
//
//go:wasmexport collect
func collect() {
	request, answer, engine = nil, nil, newEngine()
	runtime.GC()
	runtime.GC() // finishes what the first one began
}
