package server

import (
	"context"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/semaphore"
)

// budget bounds the memory of all bodies and answers in flight together.
type budget struct {
	size   int64
	free   *semaphore.Weighted
	held   prometheus.Gauge
	unread atomic.Int64 // of answers that clients have not taken completely
}

func newBudget(size int64, held prometheus.Gauge) *budget {
	return &budget{size: size, free: semaphore.NewWeighted(size), held: held}
}

// patience is the time in which a client must take a piece of its answer, which is a megabyte at most. A client that does not read holds
// memory that others need: once such answers take half of the budget, it is shorter.
func (b *budget) patience() time.Duration {
	if b.unread.Load() >= b.size/2 {
		return 2 * time.Second
	}
	return 10 * time.Second
}

// charge is a request's share of the budget.
type charge struct {
	budget *budget
	bytes  int64
}

func (b *budget) charge() *charge { return &charge{budget: b} }

var errFull = newProblem(http.StatusTooManyRequests, "too many large requests at once: try again").with("Retry-After", retryAfter)

// take increases the charge, if the budget allows. It never waits: two requests that each hold a share could wait for each other forever.
func (c *charge) take(bytes int64) error {
	if !c.budget.free.TryAcquire(bytes) {
		return errFull
	}
	c.budget.held.Add(float64(bytes))
	c.bytes += bytes
	return nil
}

func (c *charge) give(bytes int64) {
	c.budget.free.Release(bytes)
	c.budget.held.Sub(float64(bytes))
	c.bytes -= bytes
}

func (c *charge) release() { c.give(c.bytes) }

// move hands all of the charge to a new one.
func (c *charge) move() *charge {
	moved := *c
	c.bytes = 0
	return &moved
}

// readAll reads r to its end. Memory is charged before it is allocated, and only for received bytes: a client that announces much and
// sends little holds little. size is the expected length in bytes (-1: not known), limit the maximum.
func (c *charge) readAll(r io.Reader, size, limit int64) ([]byte, error) {
	var text []byte
	for {
		if len(text) == cap(text) {
			grown, err := c.grow(text, size, limit)
			if err != nil {
				return nil, err
			}
			text = grown
		}
		n, err := r.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		if err == io.EOF {
			return text, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func (c *charge) grow(text []byte, size, limit int64) ([]byte, error) {
	const least = 512
	have := int64(cap(text))
	want := max(2*have, least)
	// One byte more than the maximum: the read that finds the end needs room.
	for _, end := range []int64{size + 1, limit + 1} {
		if have < end {
			want = min(want, end)
		}
	}
	if err := c.take(want); err != nil {
		return nil, err
	}
	grown := make([]byte, len(text), want)
	copy(grown, text)
	c.give(have)
	return grown, nil
}

// answer is a text that is charged as it is written: a small body can have a large answer. It is kept in pieces, because a buffer
// that grows by copying needs its memory twice.
type answer struct {
	ctx    context.Context // of the work that writes it
	held   *charge
	pieces [][]byte
}

func (a *answer) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		last := len(a.pieces) - 1
		if last < 0 || len(a.pieces[last]) == cap(a.pieces[last]) {
			if err := a.grow(); err != nil {
				return len(p) - len(rest), err
			}
			last++
		}
		piece := a.pieces[last]
		n := min(len(rest), cap(piece)-len(piece))
		a.pieces[last] = append(piece, rest[:n]...)
		rest = rest[n:]
	}
	return len(p), nil
}

func (a *answer) grow() error {
	const least, most = 4 << 10, 1 << 20
	if err := a.ctx.Err(); err != nil {
		return err
	}
	size := min(max(a.held.bytes, least), most)
	// The other half is for bodies, including that of this request.
	if a.held.bytes+size > a.held.budget.size/2 {
		return newProblem(http.StatusRequestEntityTooLarge, "the answer is larger than %d bytes: send fewer resources, or raise --max-body", a.held.bytes)
	}
	if err := a.held.take(size); err != nil {
		return err
	}
	a.pieces = append(a.pieces, make([]byte, 0, size))
	return nil
}
