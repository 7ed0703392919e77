// Package start keeps the garbage collector out of the way of small files, and the memory of large ones within bounds. The
// package imports next to nothing, so that Go initialises it before Envoy's types.
package start

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// Registering Envoy's types alone would start the collector twice, a fifth of the time that a small file takes: the heap may
// grow to five times what is in use. With a large file that would be most of the memory, so it gets less room.
const (
	most     = 400      // percent of what is in use
	room     = 64 << 20 // bytes, for what is garbage soon
	part     = 30       // percent of what is in use, in addition
	smallest = 4 << 20  // bytes that Go takes to be in use, if less is
)

// While a run reads, most of what it allocates stays in use, and a collection finds little. So the heap may first grow to a
// multiple of what the run reads, within bounds.
const (
	multiple = 7
	backed   = 6         // of this multiple: the text has its memory already
	largest  = 256 << 20 // bytes
)

func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(most)
		adapt(new(cycle))
	}
}

// cycle is garbage as soon as it exists, so it is finalized in each collection.
type cycle struct{ _ [16]byte }

func adapt(c *cycle) {
	runtime.SetFinalizer(c, func(c *cycle) {
		mu.Lock()
		defer mu.Unlock()
		if !fixed {
			debug.SetGCPercent(percent(inUse(), expected))
			adapt(c)
		}
	})
}

var (
	mu       sync.Mutex
	fixed    bool
	expected uint64
)

// Fix sets how much the heap may grow from now on, in percent of what is in use: for a process that keeps what it has read.
func Fix(percent int) {
	mu.Lock()
	defer mu.Unlock()
	fixed = true
	debug.SetGCPercent(percent)
}

// Expect makes room for a run that reads so many bytes. A small one has enough.
func Expect(bytes uint64) {
	mu.Lock()
	defer mu.Unlock()
	if os.Getenv("GOGC") == "" && !fixed && multiple*bytes > room {
		expected = min(multiple*bytes, largest)
		debug.SetGCPercent(-1)
		go back(expected * backed / multiple)
	}
}

// back has the kernel find so many bytes for the heap at once, on a processor that is idle while a file is read. Page by page, as the heap
// grows, that takes a seventh of the time of a run.
func back(bytes uint64) {
	populate(make([]byte, bytes))
	runtime.GC() // which leaves them to the heap
	mu.Lock()
	defer mu.Unlock()
	if !fixed {
		debug.SetGCPercent(percent(inUse(), expected))
	}
}

// percent returns how much the heap may grow until the next collection: at least to what is expected.
func percent(inUse, expected uint64) int {
	usual := min(most, part+100*room/max(inUse, 1))
	if expected <= inUse {
		return int(usual)
	}
	return int(max(usual, 100*(expected-inUse)/max(inUse, smallest)))
}

func inUse() uint64 {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	return live[0].Value.Uint64()
}
