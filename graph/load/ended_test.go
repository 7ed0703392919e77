package load

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
)

// ending is a context that ends after it was asked a number of times.
type ending struct {
	context.Context
	left atomic.Int64
}

func (e *ending) Err() error {
	if e.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestEndedWithinABootstrap: a load that ends makes no more resources.
func TestEndedWithinABootstrap(t *testing.T) {
	text := []byte("static_resources: {clusters: [" + strings.Repeat("{},", 10_000) + "{}]}\n")
	load := func(asked int64) float64 {
		return testing.AllocsPerRun(1, func() {
			ctx := &ending{Context: t.Context()}
			ctx.left.Store(asked)
			if _, err := Texts(ctx, map[string][]byte{"a.yaml": text}, Options{}); err == nil {
				t.Error("it did not end")
			}
		})
	}
	if few, many := load(100), load(9_000); many < few+8_000 || few > 2_000 {
		t.Errorf("%v allocations after 100 questions, %v after 9,000", few, many)
	}
}
