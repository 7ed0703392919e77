package server

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"

	"golang.org/x/sync/semaphore"
)

// slots bound the number of requests that are judged at once, and of those that wait.
type slots struct {
	entered *semaphore.Weighted // judged or waiting
	running *semaphore.Weighted
}

func newSlots(running, waiting int) *slots {
	return &slots{entered: semaphore.NewWeighted(int64(running + waiting)), running: semaphore.NewWeighted(int64(running))}
}

var errBusy = newProblem(http.StatusTooManyRequests, "too many requests at once: try again").with("Retry-After", retryAfter)

// take waits for a slot, for a limited time.
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

// judge does the work of a request, which is in memory already, in a slot, and sends its output. If the work does not end in time,
// the client gets an error in time; the work keeps its slot and its memory until it ends.
func (s *Server) judge(x *exchange, timeout time.Duration, work func(context.Context, io.Writer) (contentType string, err error)) error {
	ctx, cancel := context.WithTimeout(x.request.Context(), timeout)
	defer cancel()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	// Half of the time is left for the work itself.
	if err := s.slots.take(ctx, timeout/2); err != nil {
		return s.ended(ctx, x, err, timeout)
	}
	reserving, task := s.memory.begin(ctx, end)
	type outcome struct {
		contentType string
		answer      *answer
		err         error
	}
	done := make(chan outcome)
	go func(body *charge) {
		o := outcome{answer: &answer{ctx: ctx, held: s.budget.charge()}}
		func() {
			defer s.recovered(&o.err)
			o.contentType, o.err = work(reserving, o.answer)
		}()
		s.memory.finish(task)
		body.release()
		s.slots.give()
		select {
		case done <- o:
		case <-ctx.Done():
			o.answer.held.release()
		}
	}(x.held.move())

	select {
	case o := <-done:
		defer o.answer.held.release()
		if o.err != nil {
			return s.ended(ctx, x, o.err, timeout)
		}
		x.answer(o.contentType, o.answer.pieces...)
		return nil
	case <-ctx.Done():
		return s.ended(ctx, x, ctx.Err(), timeout)
	}
}

// answer sends an answer. If the client does not take it, there is no other.
func (x *exchange) answer(contentType string, pieces ...[]byte) {
	if err := x.write(http.StatusOK, contentType, pieces...); err != nil {
		x.note(slog.String("unanswered", err.Error()))
	}
}

// ended returns the problem for the end of a request's work.
func (s *Server) ended(ctx context.Context, x *exchange, err error, timeout time.Duration) error {
	switch {
	case x.request.Context().Err() != nil:
		return newProblem(statusGone, "the client closed the connection")
	case context.Cause(ctx) == errMemory: // err is that of the context
		return errMemory
	case errors.Is(err, context.DeadlineExceeded):
		return newProblem(http.StatusServiceUnavailable, "not judged within %s", timeout)
	}
	return err
}
