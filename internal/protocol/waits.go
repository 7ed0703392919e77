package protocol

import (
	"container/heap"
	"slices"
	"time"
)

// wait is something that must happen until a time of the recording, unless the stream ends before.
type wait struct {
	until time.Time
	event int // that it began with: the order of waits that end together
	m     *moment
	// check is called when the time has come. It reports a breach, and returns whether the clause still applies.
	check func(*moment) bool
}

// wait calls check after a time of the recording, if the stream is still open then.
func (m *moment) wait(d time.Duration, check func(*moment) bool) {
	later := *m
	w := &wait{m.event.Time.Add(d), m.events, &later, check}
	heap.Push(&m.waits, w)
	m.s.waits[w] = true
}

// Expire calls the checks whose time has come. An event does the same for its time.
func (c *Checker) Expire(now time.Time) {
	for len(c.waits) > 0 && c.waits[0].until.Before(now) {
		w := heap.Pop(&c.waits).(*wait)
		delete(w.m.s.waits, w)
		if !w.m.s.closed && w.check(w.m) {
			w.m.test()
		}
	}
	c.recent = slices.DeleteFunc(c.recent, func(s *stream) bool { return now.Sub(s.ended) > 4*c.Patience })
	c.miss(now)
}

// Pending reports whether the side that is under test has to send something that it has not sent yet.
func (c *Checker) Pending() bool {
	if len(c.gone) > 0 {
		return true
	}
	for _, w := range c.waits {
		if _, late := c.try(w); late {
			return true
		}
	}
	return false
}

// conclude notes which clauses a stream has kept before it ends.
func (c *Checker) conclude(s *stream) {
	for w := range s.waits {
		if applies, late := c.try(w); applies && !late {
			w.m.test()
		}
	}
}

// try calls a check before its time, if it is about the side that is under test. late: it would report a breach.
func (c *Checker) try(w *wait) (applies, late bool) {
	if w.m.s.closed || w.m.clause.Client != c.Clients {
		return false, false
	}
	c.trial, c.late = true, false
	applies = w.check(w.m)
	c.trial = false
	return applies, c.late
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
