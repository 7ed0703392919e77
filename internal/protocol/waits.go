package protocol

import (
	"container/heap"
	"time"
)

// wait is something that must happen until a time of the recording, unless the stream ends before.
type wait struct {
	until time.Time
	event int // that it began with: the order of waits that end together
	m     *moment
	check func(*moment) // called when the time has come
}

// wait calls check after a time of the recording, if the stream is still open then.
func (m *moment) wait(d time.Duration, check func(*moment)) {
	later := *m
	heap.Push(&m.waits, &wait{m.event.Time.Add(d), m.events, &later, check})
}

// expire calls the checks whose time has come.
func (c *Checker) expire(now time.Time) {
	for len(c.waits) > 0 && c.waits[0].until.Before(now) {
		w := heap.Pop(&c.waits).(*wait)
		if !w.m.s.closed {
			w.check(w.m)
		}
	}
}

// waits is a heap: the next to end comes first.
type waits []*wait

func (w waits) Len() int { return len(w) }

func (w waits) Less(i, j int) bool {
	if !w[i].until.Equal(w[j].until) {
		return w[i].until.Before(w[j].until)
	}
	return w[i].event < w[j].event
}

func (w waits) Swap(i, j int) { w[i], w[j] = w[j], w[i] }

func (w *waits) Push(x any) { *w = append(*w, x.(*wait)) }

func (w *waits) Pop() any {
	last := (*w)[len(*w)-1]
	*w = (*w)[:len(*w)-1]
	return last
}
