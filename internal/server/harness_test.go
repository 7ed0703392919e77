package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"mime/multipart"
	"net"
	"net/http"
	"net/textproto"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"go.uber.org/goleak"
	admissionv1 "k8s.io/api/admission/v1"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/internal/report"
	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/plan"
	"github.com/xdslint/xdslint/rules"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// realLint is what the command does, without its configuration.
func realLint(ctx context.Context, texts map[string][]byte) (*report.Report, error) {
	input, err := load.Given(ctx, texts, load.Options{})
	if err != nil {
		return nil, err
	}
	return &report.Report{Result: lint.Run(ctx, input.Snapshots, lint.Config{Rules: rules.All()}), Rules: rules.All()}, ctx.Err()
}

func realPlan(ctx context.Context, before, after map[string][]byte, push lint.Push) (*plan.Outcome, error) {
	var sides [2]*graph.Snapshot
	for i, texts := range []map[string][]byte{before, after} {
		input, err := load.Given(ctx, texts, load.Options{})
		if err != nil {
			return nil, err
		}
		if len(input.Snapshots) == 0 {
			return nil, errors.New("there is no xDS")
		}
		sides[i] = input.Snapshots[0]
	}
	made := plan.Make(sides[0], sides[1], plan.Options{Push: push})
	return &plan.Outcome{Hazards: plan.Hazards(sides[0], sides[1], push), Plan: made, Remaining: made.Remaining()}, ctx.Err()
}

func allow(_ context.Context, review *admissionv1.AdmissionReview) *admissionv1.AdmissionResponse {
	if review.Request == nil {
		return &admissionv1.AdmissionResponse{}
	}
	return &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true, Warnings: []string{"looked at"}}
}

// nothing finds nothing.
func nothing(context.Context, map[string][]byte) (*report.Report, error) {
	return &report.Report{Result: &lint.Result{Target: dataplane.Default()}}, nil
}

// made is a server whose functions find nothing, unless options has others.
func made(t testing.TB, options Options) *Server {
	t.Helper()
	if options.Lint == nil {
		options.Lint = nothing
	}
	if options.Plan == nil {
		options.Plan = realPlan
	}
	if options.Review == nil {
		options.Review = allow
	}
	if options.Log == nil {
		options.Log = slog.New(slog.NewTextHandler(t.Output(), nil))
	}
	s, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// logged is a server's log.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *logged) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// pipes are a network in memory, whose connections know the time of a test's bubble.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

func (p *pipes) dial(ctx context.Context) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.conns <- server:
		return client, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// running is a server that is asked over pipes.
type running struct {
	*Server
	pipes  *pipes
	client *http.Client
	stop   context.CancelFunc
	ended  chan error
}

// run serves until the test ends.
func run(t *testing.T, options Options) *running {
	t.Helper()
	p := newPipes()
	ctx, stop := context.WithCancel(context.Background())
	r := &running{Server: made(t, options), pipes: p, stop: stop, ended: make(chan error, 1)}
	transport := &http.Transport{
		DialContext:     func(ctx context.Context, _, _ string) (net.Conn, error) { return p.dial(ctx) },
		MaxIdleConns:    -1,
		IdleConnTimeout: time.Second,
	}
	r.client = &http.Client{Transport: transport}
	go func() { r.ended <- r.Serve(ctx, p) }()
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		stop()
		if err := <-r.ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
		r.ended <- nil
		if got := gauge(t, r.metrics.held); got != 0 {
			t.Errorf("%v bytes are held at the end", got)
		}
		if got := gauge(t, r.metrics.inFlight); got != 0 {
			t.Errorf("%v requests are in flight at the end", got)
		}
		if !r.budget.free.TryAcquire(r.budget.size) {
			t.Error("part of the budget is gone")
		}
	})
	return r
}

func gauge(t testing.TB, g prometheus.Metric) float64 {
	t.Helper()
	var m dto.Metric
	if err := g.Write(&m); err != nil {
		t.Fatal(err)
	}
	return m.GetGauge().GetValue() + m.GetCounter().GetValue()
}

func (r *running) request(t testing.TB, method, path, contentType string, body io.Reader) *http.Request {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, "http://xdslint"+path, body)
	if err != nil {
		t.Fatal(err)
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	return request
}

// status asks, and returns the answer's status; 0 if there is none.
func (r *running) status(t testing.TB, method, path string, body io.Reader) int {
	t.Helper()
	response, err := r.client.Do(r.request(t, method, path, "", body))
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode
}

// sent is a file in a form.
type sent struct{ field, file, text string }

// form makes a multipart body.
func form(t testing.TB, parts ...sent) (contentType string, body *bytes.Buffer) {
	t.Helper()
	body = &bytes.Buffer{}
	w := multipart.NewWriter(body)
	for _, p := range parts {
		header := textproto.MIMEHeader{}
		disposition := `form-data; name="` + p.field + `"`
		if p.file != "" {
			disposition += `; filename="` + p.file + `"`
			header.Set("Content-Type", "application/octet-stream")
		}
		header.Set("Content-Disposition", disposition)
		to, err := w.CreatePart(header)
		if err == nil {
			_, err = io.Copy(to, strings.NewReader(p.text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return w.FormDataContentType(), body
}
