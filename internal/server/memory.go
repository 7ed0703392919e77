package server

import (
	"context"
	"math"
	"net/http"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/xdslint/xdslint/internal/reserve"
)

// memory ends work that takes more than the process may use. A small text can cost a thousand times its size. What
// reading it can cost is known before, and reserved; what checking it costs is known only afterwards, and watched.
type memory struct {
	most  uint64 // work is ended when more bytes are in use; 0: no limit
	inUse func() uint64

	mu    sync.Mutex
	tasks []*task       // in the order in which they began
	free  int64         // bytes that are not reserved
	freed chan struct{} // closed when there are more
}

// task is work that can be ended.
type task struct {
	end      context.CancelCauseFunc
	ended    bool
	reserved int64
	waits    bool // for what others have reserved
}

var errMemory = newProblem(http.StatusServiceUnavailable, "it needs more memory than this server has")

// newMemory returns the memory of a process with GOMEMLIMIT. Half of it is for garbage, and for what work takes until it
// has noticed that it is ended.
func newMemory(limit int64) *memory {
	if limit == math.MaxInt64 {
		return &memory{}
	}
	return &memory{most: uint64(limit / 2), free: limit / 2, freed: make(chan struct{}), inUse: reserve.InUse}
}

func memoryLimit() int64 { return debug.SetMemoryLimit(-1) }

// begin watches a task, and returns the context in which it reserves memory.
func (m *memory) begin(ctx context.Context, end context.CancelCauseFunc) (context.Context, *task) {
	t := &task{end: end}
	if m.most == 0 {
		return ctx, t
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tasks = append(m.tasks, t)
	go m.watch(ctx)
	return reserve.With(ctx, func(size int64) bool { return m.reserve(ctx, t, size) }), t
}

// reserve waits for memory. It ends the task if no other one will release enough.
func (m *memory) reserve(ctx context.Context, t *task, size int64) bool {
	for {
		freed, enough := m.take(t, size)
		if enough {
			return true
		}
		if freed == nil {
			t.end(errMemory)
			return false
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return false
		}
	}
}

// take reserves memory if there is enough. If not, it returns what to wait for, or nil if all tasks wait.
func (m *memory) take(t *task, size int64) (freed <-chan struct{}, enough bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if t.waits = size > m.free; !t.waits {
		m.free -= size
		t.reserved += size
		return nil, true
	}
	if uint64(t.reserved+size) > m.most || !slices.ContainsFunc(m.tasks, func(other *task) bool { return !other.waits }) {
		return nil, false
	}
	return m.freed, false
}

func (m *memory) watch(ctx context.Context) {
	ticks := time.NewTicker(10 * time.Millisecond)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
			m.relieve()
		}
	}
}

// relieve ends the oldest task if too much is in use. The others may fit when its memory is free.
func (m *memory) relieve() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.tasks) > 0 && !m.tasks[0].ended && m.inUse() > m.most {
		m.tasks[0].ended = true
		m.tasks[0].end(errMemory)
	}
}

// finish is called when the work of a task has returned.
func (m *memory) finish(t *task) {
	if m.most == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if t.ended {
		runtime.GC() // without its memory, the next one may fit
	}
	m.tasks = slices.DeleteFunc(m.tasks, func(other *task) bool { return other == t })
	m.free += t.reserved
	for _, other := range m.tasks {
		other.waits = false // until it has tried again
	}
	close(m.freed)
	m.freed = make(chan struct{})
}
