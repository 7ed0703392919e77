package server

import (
	"context"
	_ "embed"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/internal/webhook"
	"github.com/xdslint/xdslint/plan"
)

// Defaults of the Options, and limits of concurrent work.
const (
	DefaultMaxBody = 32 << 20
	DefaultTimeout = 30 * time.Second

	queuePerSlot     = 8       // requests that wait, for each that is judged
	bodiesInFlight   = 4       // times MaxBody: bytes of requests and answers held at once
	leastInFlight    = 4 << 20 // lower bound of bodiesInFlight in bytes: SARIF explains all rules, even for a small body
	maxHeaderTimeout = 10 * time.Second
	idleTimeout      = 2 * time.Minute
	// farewell is the time for which a stopping server still accepts requests. Meanwhile /readyz fails, and each answer closes its
	// connection. If connections were closed at once, requests on their way would fail.
	farewell = time.Second
)

// Linter judges the requests: an *xdslint.Linter. It is called concurrently, and must return soon after its context ends. Any error
// other than the context's is a mistake of the client.
type Linter interface {
	webhook.Linter
	Plan(ctx context.Context, before, after xdslint.Input, opts xdslint.PlanOptions) (*plan.Outcome, error)
}

// Options configure a Server.
type Options struct {
	Linter Linter

	TLS           *Files        // nil: plain HTTP, on a loopback address
	MaxBody       int64         // of a request, in bytes; 0: DefaultMaxBody
	Timeout       time.Duration // to receive a request, and again to judge it; 0: DefaultTimeout
	MaxConcurrent int           // requests judged at once; 0: GOMAXPROCS. Eight times as many wait, for half of Timeout; others are rejected
	WebhookOnly   bool          // serve no requests about configurations other than AdmissionReviews
	Log           *slog.Logger  // nil: nothing is logged
}

// Server is an http.Handler, with the life cycle of a process.
type Server struct {
	options      Options
	certificates *certificates // nil: plain HTTP
	routes       map[string]route
	metrics      *metrics
	budget       *budget
	remembered   *remembered
	slots        *slots
	memory       *memory
	farewell     time.Duration
	stopping     chan struct{}
}

type route struct {
	method string
	handle func(*exchange) error
	open   bool // accepts clients without a certificate: probes have none
}

//go:embed openapi.yaml
var openAPI []byte

// New creates a server. It returns an error if its certificate cannot be read.
func New(options Options) (*Server, error) {
	if options.MaxBody == 0 {
		options.MaxBody = DefaultMaxBody
	}
	if options.Timeout == 0 {
		options.Timeout = DefaultTimeout
	}
	if options.MaxConcurrent == 0 {
		options.MaxConcurrent = runtime.GOMAXPROCS(0)
	}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	m := newMetrics()
	s := &Server{
		options:    options,
		metrics:    m,
		budget:     newBudget(max(bodiesInFlight*options.MaxBody, leastInFlight), m.held),
		slots:      newSlots(options.MaxConcurrent, options.MaxConcurrent*queuePerSlot),
		memory:     newMemory(memoryLimit()),
		farewell:   farewell,
		remembered: newRemembered(),
		stopping:   make(chan struct{}),
	}
	s.routes = map[string]route{
		"/v1/lint":      {method: http.MethodPost, handle: s.lint},
		"/v1/plan":      {method: http.MethodPost, handle: s.plan},
		"/k8s/validate": {method: http.MethodPost, handle: s.review},
		"/healthz":      {method: http.MethodGet, handle: healthy, open: true},
		"/readyz":       {method: http.MethodGet, handle: s.ready, open: true},
		"/metrics":      {method: http.MethodGet, handle: through(promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))},
		"/openapi.yaml": {method: http.MethodGet, handle: describe},
	}
	if options.WebhookOnly {
		for _, path := range []string{"/v1/lint", "/v1/plan", "/openapi.yaml"} {
			delete(s.routes, path)
		}
	}
	if options.TLS != nil {
		var err error
		if s.certificates, err = newCertificates(*options.TLS, options.Log); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func healthy(x *exchange) error { return x.text(http.StatusOK, "ok\n") }

func (s *Server) ready(x *exchange) error {
	select {
	case <-s.stopping:
		return newProblem(http.StatusServiceUnavailable, "the server is stopping")
	default:
		return x.text(http.StatusOK, "ok\n")
	}
}

func describe(x *exchange) error {
	return x.write(http.StatusOK, "application/yaml", openAPI)
}

func through(h http.Handler) func(*exchange) error {
	return func(x *exchange) error {
		h.ServeHTTP(x, x.request)
		return nil
	}
}

// Serve answers requests on the listener until ctx ends. Then /readyz fails, and a second later the listener is closed. Serve returns
// nil when all accepted requests are answered. It must be called only once.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: min(s.options.Timeout, maxHeaderTimeout),
		ReadTimeout:       s.options.Timeout,
		// Counted from the request's header: receive it, judge it, send the answer.
		WriteTimeout:   3 * s.options.Timeout,
		IdleTimeout:    idleTimeout,
		MaxHeaderBytes: 64 << 10,
		ErrorLog:       slog.NewLogLogger(s.options.Log.Handler(), slog.LevelWarn),
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams:          100,
			MaxReceiveBufferPerConnection: 1 << 20,
			MaxReceiveBufferPerStream:     256 << 10,
		},
	}
	failed := make(chan error, 1)
	go func() {
		if s.certificates == nil {
			failed <- server.Serve(l)
			return
		}
		server.TLSConfig = s.certificates.config()
		failed <- server.ServeTLS(l, "", "")
	}()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	close(s.stopping)
	select {
	case err := <-failed:
		return err
	case <-time.After(s.farewell):
	}
	// No request takes longer than this, so the deadline is not met.
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*server.WriteTimeout)
	defer cancel()
	err := server.Shutdown(ending)
	if served := <-failed; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
