package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"golang.org/x/sync/semaphore"
)

// slots bound how much is judged at once, and how much waits for that.
type slots struct {
	entered *semaphore.Weighted // judged or waiting
	running *semaphore.Weighted
}

func newSlots(running, waiting int) *slots {
	return &slots{entered: semaphore.NewWeighted(int64(running + waiting)), running: semaphore.NewWeighted(int64(running))}
}

var errBusy = newProblem(http.StatusTooManyRequests, "too many requests at once: try again").with("Retry-After", retryAfter)

// take waits for a slot, but not for long.
func (s *slots) take(ctx context.Context, patience time.Duration) error {
	if !s.entered.TryAcquire(1) {
		return errBusy
	}
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if s.running.Acquire(waiting, 1) == nil {
		return nil
	}
	s.entered.Release(1)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errBusy
}

func (s *slots) give() {
	s.running.Release(1)
	s.entered.Release(1)
}

// judge does the work of a request, which is in memory already, in a slot, and writes what that makes. Work that does not end in time
// is answered in time all the same; it keeps its slot and its memory until it ends.
func (s *Server) judge(x *exchange, timeout time.Duration, work func(context.Context) (contentType string, text []byte, err error)) error {
	ctx, cancel := context.WithTimeout(x.request.Context(), timeout)
	defer cancel()
	// Half of the time is left for the work itself.
	if err := s.slots.take(ctx, timeout/2); err != nil {
		return s.ended(x, err)
	}
	type outcome struct {
		contentType string
		text        []byte
		err         error
	}
	done := make(chan outcome, 1)
	go func(held *charge) {
		var o outcome
		func() {
			defer func() {
				if p := recover(); p != nil {
					s.panicked(p)
					o.err = errBroken
				}
			}()
			o.contentType, o.text, o.err = work(ctx)
		}()
		held.release()
		s.slots.give()
		done <- o
	}(x.held.move())

	select {
	case o := <-done:
		if o.err != nil {
			return s.ended(x, o.err)
		}
		if err := x.held.take(min(int64(len(o.text)), s.budget.size)); err != nil {
			return err
		}
		if err := x.write(http.StatusOK, o.contentType, o.text); err != nil {
			x.note(slog.String("unanswered", err.Error()))
		}
		return nil
	case <-ctx.Done():
		return s.ended(x, ctx.Err())
	}
}

// ended says what the end of a request's context means.
func (s *Server) ended(x *exchange, err error) error {
	switch {
	case x.request.Context().Err() != nil:
		return newProblem(statusGone, "the client closed the connection")
	case errors.Is(err, context.DeadlineExceeded):
		return newProblem(http.StatusServiceUnavailable, "not judged in time (--timeout is %s)", s.options.Timeout)
	}
	return err
}
