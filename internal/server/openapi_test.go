package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/google/go-cmp/cmp"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/plan"
)

// described asks servers as the description says, and holds their answers against it.
type described struct {
	document *openapi3.T
	router   routers.Router
	seen     map[string]bool // path and status
}

func newDescribed(t *testing.T) *described {
	t.Helper()
	document, err := openapi3.NewLoader().LoadFromData(openAPI)
	if err == nil {
		err = document.Validate(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	router, err := gorillamux.NewRouter(document)
	if err != nil {
		t.Fatal(err)
	}
	openapi3filter.RegisterBodyDecoder(sarifType, openapi3filter.JSONBodyDecoder)
	openapi3filter.RegisterBodyDecoder("application/x-protobuf", openapi3filter.FileBodyDecoder)
	return &described{document, router, map[string]bool{}}
}

func (d *described) input(t *testing.T, request *http.Request) *openapi3filter.RequestValidationInput {
	t.Helper()
	route, params, err := d.router.FindRoute(request)
	if err != nil {
		t.Fatalf("%s %s: %v", request.Method, request.URL.Path, err)
	}
	return &openapi3filter.RequestValidationInput{Request: request, PathParams: params, Route: route}
}

// ask gives a request to the server. Whether the description allows the request must be as wanted; it must describe the answer in any case.
func (d *described) ask(t *testing.T, s *Server, allowed bool, request *http.Request) {
	t.Helper()
	input := d.input(t, request)
	if err := openapi3filter.ValidateRequest(t.Context(), input); allowed && err != nil {
		t.Errorf("%s %s is not described: %v", request.Method, request.URL, err)
	} else if !allowed && err == nil {
		t.Errorf("%s %s is described, and refused", request.Method, request.URL)
	}
	d.answer(t, s, request, input)
}

// answer holds only the answer against the description.
func (d *described) answer(t *testing.T, s *Server, request *http.Request, input *openapi3filter.RequestValidationInput) {
	t.Helper()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, request)
	response := w.Result()
	err := openapi3filter.ValidateResponse(t.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: response.StatusCode, Header: response.Header, Body: response.Body,
		Options: &openapi3filter.Options{IncludeResponseStatus: true},
	})
	if err != nil {
		t.Errorf("%s %s: %s is not described: %v", request.Method, request.URL, response.Status, err)
	}
	d.seen[fmt.Sprint(request.URL.Path, " ", response.StatusCode)] = true
}

// brokenBody fails like a connection on which nothing comes.
type brokenBody struct{}

func (brokenBody) Read([]byte) (int, error) { return 0, os.ErrDeadlineExceeded }

// TestDescription produces every answer that openapi.yaml describes, and no other.
func TestDescription(t *testing.T) {
	d := newDescribed(t)
	read := func(name string) string {
		raw, err := os.ReadFile("../../testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	post := func(path, contentType string, body io.Reader) *http.Request {
		request := httptest.NewRequest("POST", path, body)
		if contentType != "" {
			request.Header.Set("Content-Type", contentType)
		}
		return request
	}
	const transition = "transitions/route-to-health-checked-cluster/"
	push := func() (string, io.Reader) {
		return form(t, sent{"old", "clusters.yaml", read(transition + "old/clusters.yaml")}, sent{"old", "routes.yaml", read(transition + "old/routes.yaml")},
			sent{"new", "clusters.yaml", read(transition + "new/clusters.yaml")}, sent{"new", "routes.yaml", read(transition + "new/routes.yaml")})
	}
	const review = `{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "u-1", "operation": "CREATE", "object": {}}}`
	paths := map[string]func() *http.Request{
		"/v1/lint":      func() *http.Request { return post("/v1/lint", "application/octet-stream", strings.NewReader("{}")) },
		"/v1/plan":      func() *http.Request { contentType, body := push(); return post("/v1/plan", contentType, body) },
		"/k8s/validate": func() *http.Request { return post("/k8s/validate", jsonType, strings.NewReader(review)) },
	}

	good := made(t, Options{Linter: linter()})
	storefront := read("snapshots/storefront/rds.yaml")
	for _, contentType := range []string{"application/yaml", "text/plain", "application/octet-stream"} {
		d.ask(t, good, true, post("/v1/lint?filename=rds.yaml", contentType, strings.NewReader(storefront)))
	}
	d.ask(t, good, true, post("/v1/lint", jsonType, strings.NewReader("{}")))
	contentType, several := form(t, sent{"file", "rds.yaml", storefront}, sent{"file", "bootstrap.yaml", read("snapshots/storefront/bootstrap.yaml")})
	d.ask(t, good, true, post("/v1/lint", contentType, several))
	for _, format := range []string{"json", "sarif"} {
		d.ask(t, good, true, post("/v1/lint?format="+format, "application/octet-stream", strings.NewReader(storefront)))
	}
	for _, request := range paths {
		d.ask(t, good, true, request())
	}
	for _, transport := range lint.Transports {
		for _, versions := range lint.VersionPolicies {
			contentType, body := push()
			d.ask(t, good, true, post(fmt.Sprintf("/v1/plan?transport=%s&versions=%s", transport, versions), contentType, body))
		}
	}
	for _, path := range []string{"/healthz", "/readyz", "/metrics", "/openapi.yaml"} {
		d.ask(t, good, true, httptest.NewRequest("GET", path, nil))
	}

	// Requests that are wrong.
	d.ask(t, good, false, post("/v1/lint?format=junit", "text/plain", strings.NewReader("{}")))
	contentType, oneSided := form(t, sent{"old", "a.yaml", "{}"})
	d.ask(t, good, false, post("/v1/plan", contentType, oneSided))
	d.ask(t, good, false, post("/k8s/validate", jsonType, strings.NewReader("[]")))
	for path := range paths {
		d.ask(t, good, false, post(path, "text/html", strings.NewReader("<p>")))
	}

	// Servers that cannot answer. The requests are right, so far as they can be told.
	for _, request := range paths {
		slow := request()
		slow.Body = io.NopCloser(brokenBody{})
		d.answer(t, good, slow, d.input(t, slow))

		d.ask(t, made(t, Options{MaxBody: 1}), true, request())

		busy := made(t, Options{MaxConcurrent: 1})
		busy.slots.entered.TryAcquire(1 + queuePerSlot)
		d.ask(t, busy, true, request())

		d.ask(t, failing(t), true, request())
		d.ask(t, late(t), true, request())

		private := made(t, Options{})
		private.certificates = &certificates{files: Files{ClientCA: "ca.crt"}}
		d.ask(t, private, true, request())
		for _, path := range []string{"/metrics", "/openapi.yaml", "/healthz", "/readyz"} {
			d.ask(t, private, true, httptest.NewRequest("GET", path, nil))
		}
	}
	stopping := made(t, Options{})
	close(stopping.stopping)
	d.ask(t, stopping, true, httptest.NewRequest("GET", "/readyz", nil))

	var want, got []string
	for path, item := range d.document.Paths.Map() {
		for _, operation := range item.Operations() {
			for status := range operation.Responses.Map() {
				want = append(want, path+" "+status)
			}
		}
	}
	for answer := range d.seen {
		got = append(got, answer)
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("described (-) and seen (+) answers differ:\n%s", diff)
	}
}

// failing is a server in which everything panics.
func failing(t *testing.T) *Server {
	return made(t, Options{Linter: fake{
		lint: func(context.Context, map[string][]byte) (*xdslint.Report, error) { panic("oops") },
		plan: func(context.Context, map[string][]byte, map[string][]byte, lint.Push) (*plan.Outcome, error) {
			panic("oops")
		},
	}})
}

// late is a server in which nothing ends in time.
func late(t *testing.T) *Server {
	return made(t, Options{
		Timeout: time.Nanosecond,
		Linter: fake{
			lint: func(ctx context.Context, _ map[string][]byte) (*xdslint.Report, error) {
				<-ctx.Done()
				return nil, errors.New("late")
			},
			plan: func(ctx context.Context, _, _ map[string][]byte, _ lint.Push) (*plan.Outcome, error) {
				<-ctx.Done()
				return nil, errors.New("late")
			},
		},
	})
}
