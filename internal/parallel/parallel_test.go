package parallel_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/xdslint/xdslint/internal/parallel"
)

func TestEach(t *testing.T) {
	for _, n := range []int{0, 1, 2, 1000} {
		calls := make([]atomic.Int32, n)
		parallel.Each(t.Context(), n, func() func(int) { return func(i int) { calls[i].Add(1) } })
		for i := range calls {
			if got := calls[i].Load(); got != 1 {
				t.Fatalf("of %d, %d was done %d times", n, i, got)
			}
		}
	}
}

func TestEachEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var done atomic.Int32
	parallel.Each(ctx, 1_000_000, func() func(int) {
		return func(int) {
			done.Add(1)
			cancel()
		}
	})
	if done.Load() == 1_000_000 {
		t.Error("it went on")
	}
}

func TestAPanicReachesTheCaller(t *testing.T) {
	defer func() {
		if p := recover(); p != "seven" {
			t.Errorf("recovered %v", p)
		}
	}()
	parallel.Each(t.Context(), 100, func() func(int) {
		return func(i int) {
			if i == 7 {
				panic("seven")
			}
		}
	})
	t.Error("it returned")
}
