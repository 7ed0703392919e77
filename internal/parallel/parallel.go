// Package parallel spreads work over all processors.
package parallel

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// Each calls f for 0 … n-1 on all processors, until ctx ends. start creates an f for each goroutine. If a call panics, Each panics in the goroutine of its
// caller, which can recover, after all other calls have returned.
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
