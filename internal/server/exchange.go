package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/xdslint/xdslint/internal/words"
)

// exchange is a request and its answer.
type exchange struct {
	http.ResponseWriter
	request *http.Request
	until   time.Time // by then it must be answered
	held    *charge   // memory of its body and answer
	read    int64     // bytes of the body
	status  int       // 0: no answer yet
	written int64
	notes   []slog.Attr // for the log
}

// ServeHTTP answers a request, and logs it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	x := &exchange{ResponseWriter: w, request: r, until: began.Add(3 * s.options.Timeout), held: s.budget.charge()}
	path := "other"
	if _, known := s.routes[r.URL.Path]; known {
		path = r.URL.Path
	}
	s.metrics.inFlight.Inc()
	defer func() {
		x.held.release()
		s.metrics.inFlight.Dec()
		took := time.Since(began)
		s.metrics.requests.WithLabelValues(path, strconv.Itoa(x.status)).Inc()
		s.metrics.seconds.WithLabelValues(path).Observe(took.Seconds())
		s.record(x, took)
	}()
	select {
	case <-s.stopping:
		w.Header().Set("Connection", "close")
	default:
	}
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if err := s.contained(x); err != nil {
		p, ok := errors.AsType[*problem](err)
		if !ok {
			p = s.failed(err)
		}
		s.refuse(x, p)
	}
}

// contained calls the handler of a request. It returns a panic as an error.
func (s *Server) contained(x *exchange) (err error) {
	defer s.recovered(&err)
	route, ok := s.routes[x.request.URL.Path]
	switch method := x.request.Method; {
	case !ok:
		return newProblem(http.StatusNotFound, "not found; /openapi.yaml lists the paths")
	case method != route.method && (method != http.MethodHead || route.method != http.MethodGet):
		return newProblem(http.StatusMethodNotAllowed, "the method must be %s", route.method).with("Allow", route.method)
	case !route.open && s.certificates.wantsClients() && !verified(x.request):
		return newProblem(http.StatusUnauthorized, "a client certificate is required")
	}
	return route.handle(x)
}

// failed logs an error that does not belong in an answer, such as one of an encoder.
func (s *Server) failed(err error) *problem {
	s.options.Log.Error("this is a bug in xdslint", "error", err.Error())
	return errBroken
}

// recovered is deferred, and turns a panic into an error. It logs the stack but not the value, which may quote the request.
func (s *Server) recovered(err *error) {
	if p := recover(); p != nil {
		s.metrics.panics.Inc()
		s.options.Log.Error("panic: this is a bug in xdslint", "type", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
		*err = errBroken
	}
}

// refuse answers with a problem, unless part of another answer has been sent.
func (s *Server) refuse(x *exchange, p *problem) {
	if x.request.Method == http.MethodPost && overloaded(p.Status) {
		s.metrics.refused.Inc()
	}
	if !p.quotes {
		x.note(slog.String("problem", p.Detail))
	}
	if x.status != 0 {
		panic(http.ErrAbortHandler)
	}
	if p.Status == statusGone { // half of the connection may be open: without an answer, net/http would send 200
		x.status = statusGone
		panic(http.ErrAbortHandler)
	}
	for name, values := range p.header {
		x.Header()[name] = values
	}
	text, err := json.Marshal(p)
	if err == nil {
		err = x.write(p.Status, "application/problem+json", append(text, '\n'))
	}
	if err != nil {
		x.note(slog.String("unanswered", err.Error()))
	}
}

// overloaded reports whether a status is caused by load.
func overloaded(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable
}

// record logs a request, without its body and query.
func (s *Server) record(x *exchange, took time.Duration) {
	level := slog.LevelInfo
	switch {
	case overloaded(x.status):
		level = slog.LevelWarn
	case x.status >= 500:
		level = slog.LevelError
	case x.request.Method != http.MethodPost && x.status < 400: // probes are sent every few seconds
		level = slog.LevelDebug
	}
	attrs := []slog.Attr{
		slog.String("method", short(x.request.Method)), slog.String("path", short(x.request.URL.Path)), slog.Int("status", x.status),
		slog.Int64("read", x.read), slog.Int64("written", x.written), slog.Int64("ms", took.Milliseconds()),
	}
	s.options.Log.LogAttrs(x.request.Context(), level, "request", append(attrs, x.notes...)...)
}

// short limits a path or method for the log: those of unknown routes can have any length.
func short(text string) string { return words.Cut(text, 100) }

func (x *exchange) note(attr slog.Attr) { x.notes = append(x.notes, attr) }

func (x *exchange) WriteHeader(status int) {
	if x.status == 0 {
		x.status = status
	}
	x.ResponseWriter.WriteHeader(status)
}

func (x *exchange) Write(p []byte) (int, error) {
	if x.status == 0 {
		x.status = http.StatusOK
	}
	n, err := x.ResponseWriter.Write(p)
	x.written += int64(n)
	return n, err
}

func (x *exchange) write(status int, contentType string, pieces ...[]byte) error {
	size, memory := 0, int64(0)
	for _, piece := range pieces {
		size += len(piece)
		memory += int64(cap(piece))
	}
	x.Header().Set("Content-Type", contentType)
	x.Header().Set("Content-Length", strconv.Itoa(size))
	x.WriteHeader(status)
	x.held.budget.unread.Add(memory)
	defer x.held.budget.unread.Add(-memory)
	for _, piece := range pieces {
		x.expect()
		if _, err := x.Write(piece); err != nil && !errors.Is(err, http.ErrBodyNotAllowed) { // HEAD
			return err
		}
	}
	return nil
}

// expect sets the time until which the client must take the next piece.
func (x *exchange) expect() {
	until := earliest(time.Now().Add(x.held.budget.patience()), x.until)
	_ = http.NewResponseController(x.ResponseWriter).SetWriteDeadline(until) // a recorder has none
}

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func (x *exchange) text(status int, text string) error {
	return x.write(status, "text/plain; charset=utf-8", []byte(text))
}
