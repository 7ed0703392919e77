package server

import (
	"bytes"
	"context"
	"math"
	"net/http"
	"runtime"
	"runtime/debug"
	gauges "runtime/metrics"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// memory ends work that takes more than the process may use. A small text can cost a thousand times its size. What
// reading it can cost is known before, and reserved; what checking it costs is known only afterwards, and watched.
type memory struct {
	most  uint64 // bytes in use above which work is ended; 0: there is no limit
	free  *semaphore.Weighted
	inUse func() uint64

	mu    sync.Mutex
	tasks []*task // in the order in which they began
}

// task is work that can be ended.
type task struct {
	end      context.CancelCauseFunc
	ended    bool
	reserved int64
}

var errMemory = newProblem(http.StatusServiceUnavailable, "it needs more memory than this server has")

// newMemory returns the memory of a process with GOMEMLIMIT. Half of it is for garbage, and for what work takes until it
// has noticed that it is ended.
func newMemory(limit int64) *memory {
	if limit == math.MaxInt64 {
		return &memory{}
	}
	most := limit / 2
	return &memory{most: uint64(most), free: semaphore.NewWeighted(most), inUse: inUse}
}

func memoryLimit() int64 { return debug.SetMemoryLimit(-1) }

// inUse returns how many bytes the latest collection of garbage left.
func inUse() uint64 {
	live := []gauges.Sample{{Name: "/gc/heap/live:bytes"}}
	gauges.Read(live)
	return live[0].Value.Uint64()
}

// reading returns how many bytes reading a text can take: what the YAML parser needs for a number in a list. Each further
// value of a text needs a separator, which may be escaped in the text of another one.
func reading(text []byte) (size int64) {
	for _, separator := range []string{",", "\n", `\n`, `\u00`} {
		size += int64(bytes.Count(text, []byte(separator)))
	}
	return 800 * size
}

// begin waits for the memory that reading takes, and watches the task from then on.
func (m *memory) begin(ctx context.Context, end context.CancelCauseFunc, reading int64) (*task, error) {
	t := &task{end: end, reserved: reading}
	if m.most == 0 {
		return t, nil
	}
	if uint64(reading) > m.most {
		return nil, errMemory
	}
	if err := m.free.Acquire(ctx, reading); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tasks = append(m.tasks, t)
	go m.watch(ctx)
	return t, nil
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
	m.free.Release(t.reserved)
}
