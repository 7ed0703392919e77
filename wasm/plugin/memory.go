package plugin

import (
	"context"

	"github.com/tetratelabs/wazero/experimental"
)

// withMemory makes instances have a linear memory. wazero's own grows by a quarter, and a plugin that asks for a few pages at a time leaves a copy
// behind each time: together many times what it may have.
func withMemory(ctx context.Context) context.Context {
	return experimental.WithMemoryAllocator(ctx, experimental.MemoryAllocatorFunc(func(_, most uint64) experimental.LinearMemory {
		return &linear{most: most}
	}))
}

// linear is a memory that quadruples, so that all copies together take a third more than the last one.
type linear struct {
	bytes []byte
	most  uint64
}

// Reallocate implements experimental.LinearMemory.
func (l *linear) Reallocate(size uint64) []byte {
	if have := uint64(cap(l.bytes)); size > have {
		grown := make([]byte, size, min(max(size, 4*have), max(size, l.most)))
		copy(grown, l.bytes)
		l.bytes = grown
	}
	l.bytes = l.bytes[:size]
	return l.bytes
}

// Free implements experimental.LinearMemory.
func (l *linear) Free() { l.bytes = nil }
