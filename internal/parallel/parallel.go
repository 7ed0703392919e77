// Package parallel spreads work over all processors.
package parallel

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// Each calls f for 0 … n-1 until ctx ends, on all processors; f is made by start, once for each goroutine. A call that panics makes Each panic, in
// the goroutine of its caller, who can recover, when the others have returned.
func Each(ctx context.Context, n int, start func() func(i int)) {
	var next atomic.Int64
	var panicked atomic.Pointer[any]
	var workers sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					panicked.Store(&p)
				}
			}()
			f := start()
			for ctx.Err() == nil && panicked.Load() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				f(i)
			}
		})
	}
	workers.Wait()
	if p := panicked.Load(); p != nil {
		panic(*p)
	}
}
