package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/plan"
)

// ask gives a request to a server, and returns the answer.
func ask(s *Server, method, path, contentType string, body io.Reader, header ...string) *http.Response {
	request := httptest.NewRequest(method, path, body)
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	for i := 0; i < len(header); i += 2 {
		request.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, request)
	return w.Result()
}

func text(t testing.TB, response *http.Response) string {
	t.Helper()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestNames: the name of a body determines its encoding.
func TestNames(t *testing.T) {
	var got map[string][]byte
	s := made(t, Options{Linter: fake{lint: func(ctx context.Context, texts map[string][]byte) (*xdslint.Report, error) {
		got = texts
		return nothing(ctx, texts)
	}}})
	multipart := func(parts ...sent) (string, string) {
		contentType, body := form(t, parts...)
		return contentType, body.String()
	}
	several, three := multipart(sent{"file", "a.yaml", "1"}, sent{"file", "eds/a.yaml", "2"}, sent{"routes.json", "", "3"}, sent{"file", "/etc/envoy/./b.pb", ""})
	for name, test := range map[string]struct {
		query, contentType, body string
		want                     map[string]string
	}{
		"nothing is known":     {"", "", "w", map[string]string{"body": "w"}},
		"curl --data-binary":   {"", "application/x-www-form-urlencoded", "x", map[string]string{"body": "x"}},
		"JSON":                 {"", "application/json; charset=utf-8", "x", map[string]string{"body.json": "x"}},
		"YAML":                 {"", "Application/YAML", "x", map[string]string{"body.yaml": "x"}},
		"binary":               {"", "application/x-protobuf", "x", map[string]string{"body.pb": "x"}},
		"the name goes before": {"?filename=conf/envoy.pb_text", "application/json", "x", map[string]string{"conf/envoy.pb_text": "x"}},
		"several":              {"", several, three, map[string]string{"a.yaml": "1", "eds/a.yaml": "2", "routes.json": "3", "/etc/envoy/b.pb": ""}},
	} {
		t.Run(name, func(t *testing.T) {
			response := ask(s, "POST", "/v1/lint"+test.query, test.contentType, strings.NewReader(test.body))
			if response.StatusCode != http.StatusOK {
				t.Fatalf("%s: %s", response.Status, text(t, response))
			}
			texts := map[string]string{}
			for name, text := range got {
				texts[name] = string(text)
			}
			if diff := cmp.Diff(test.want, texts); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFormats(t *testing.T) {
	s := made(t, Options{})
	for name, test := range map[string]struct{ query, accept, want string }{
		"nothing":      {"", "", jsonType},
		"anything":     {"", "text/html, */*;q=0.8", jsonType},
		"SARIF":        {"", "application/json;q=0.5, application/sarif+json", sarifType},
		"no SARIF":     {"", "application/sarif+json;q=0, application/json", jsonType},
		"query: SARIF": {"?format=sarif", "application/json", sarifType},
		"query: JSON":  {"?format=json", "application/sarif+json", jsonType},
	} {
		t.Run(name, func(t *testing.T) {
			response := ask(s, "POST", "/v1/lint"+test.query, "", strings.NewReader("x"), "Accept", test.accept)
			if got := response.Header.Get("Content-Type"); response.StatusCode != http.StatusOK || got != test.want {
				t.Errorf("%s, %s; want %s", response.Status, got, test.want)
			}
		})
	}
}

// TestPlanSides: a plan is made from both snapshots, for the push in the query.
func TestPlanSides(t *testing.T) {
	var before, after map[string][]byte
	var asked lint.Push
	s := made(t, Options{Linter: fake{plan: func(_ context.Context, b, a map[string][]byte, push lint.Push) (*plan.Outcome, error) {
		before, after, asked = b, a, push
		return &plan.Outcome{Hazards: &lint.Result{Target: dataplane.Default()}}, nil
	}}})
	contentType, body := form(t, sent{"new", "c.yaml", "1"}, sent{"old", "c.yaml", "2"}, sent{"old", "/etc/eds.yaml", "3"}, sent{"new", "", "4"},
		sent{"old", "../new/c.yaml", "5"})
	response := ask(s, "POST", "/v1/plan?transport=delta&versions=global", contentType, body)
	if response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", response.Status, text(t, response))
	}
	if got, want := slices.Sorted(maps.Keys(before)), []string{"/etc/eds.yaml", "old/c.yaml", "old/new/c.yaml"}; !slices.Equal(got, want) {
		t.Errorf("old is %q, want %q", got, want)
	}
	if got, want := slices.Sorted(maps.Keys(after)), []string{"new", "new/c.yaml"}; !slices.Equal(got, want) {
		t.Errorf("new is %q, want %q", got, want)
	}
	if want := (lint.Push{Transport: lint.Delta, Versions: lint.Global}); asked != want {
		t.Errorf("the push is %v, want %v", asked, want)
	}
}

// TestProblems: each invalid request gets an error that says what is wrong.
func TestProblems(t *testing.T) {
	s := made(t, Options{MaxBody: 4 << 20, Linter: fake{plan: func(context.Context, map[string][]byte, map[string][]byte, lint.Push) (*plan.Outcome, error) {
		return nil, errors.New("old holds 2 configurations, but only one can be compared")
	}}})
	twice, sameName := form(t, sent{"file", "a.yaml", "1"}, sent{"file", "./a.yaml", "2"})
	nameless, noName := form(t, sent{"", "", "1"})
	oneSided, onlyOld := form(t, sent{"old", "a.yaml", "1"})
	third, other := form(t, sent{"old", "a.yaml", "1"}, sent{"nwe", "a.yaml", "1"})
	both, sides := form(t, sent{"old", "a.yaml", "1"}, sent{"new", "a.yaml", "1"})
	long := strings.Repeat("x", maxName+1)
	longName, named := form(t, sent{"file", long, "1"})
	many, parts := form(t, slices.Repeat([]sent{{"file", "", ""}}, maxParts+1)...)
	const bounded = "multipart/form-data; boundary=b"
	for name, test := range map[string]struct {
		method, path, contentType, body string
		status                          int
		detail                          string
	}{
		"unknown path":        {"GET", "/v2/lint", "", "", 404, "not found; /openapi.yaml lists the paths"},
		"wrong method":        {"PUT", "/v1/lint", "", "x", 405, "the method must be POST"},
		"post to a probe":     {"POST", "/healthz", "", "x", 405, "the method must be GET"},
		"misspelt parameter":  {"POST", "/v1/lint?formt=sarif", "", "x", 400, "the query has an unknown parameter (did you mean format?)"},
		"unknown parameter":   {"POST", "/v1/lint?x=y", "", "x", 400, "the query has an unknown parameter: known are filename, format"},
		"broken query":        {"POST", "/v1/lint?format=%zz", "", "x", 400, "invalid query"},
		"unknown format":      {"POST", "/v1/lint?format=junit", "", "x", 400, "format must be json or sarif"},
		"empty":               {"POST", "/v1/lint", "", "", 400, "the body is empty"},
		"web page":            {"POST", "/v1/lint", "text/html", "x", 415, "unsupported Content-Type: send YAML, JSON, protobuf or multipart/form-data"},
		"broken type":         {"POST", "/v1/lint", "text/", "x", 415, "invalid Content-Type"},
		"no boundary":         {"POST", "/v1/lint", "multipart/form-data", "x", 400, "the Content-Type has no boundary"},
		"no part":             {"POST", "/v1/lint", bounded, "--b--\r\n", 400, "the multipart body has no parts"},
		"no multipart":        {"POST", "/v1/lint", bounded, "static_resources: {}", 400, "the multipart body is malformed or incomplete"},
		"broken part header":  {"POST", "/v1/lint", bounded, "--b\r\nno header\r\n\r\nx\r\n--b--\r\n", 400, "the multipart body is malformed or incomplete"},
		"no last boundary":    {"POST", "/v1/lint", bounded, "--b\r\nContent-Disposition: form-data; name=a\r\n\r\nx", 400, "the multipart body is malformed or incomplete"},
		"same name twice":     {"POST", "/v1/lint", twice, sameName.String(), 400, "two parts have the same file name"},
		"no name":             {"POST", "/v1/lint", nameless, noName.String(), 400, "a part has neither a file name nor a name"},
		"name of several":     {"POST", "/v1/lint?filename=a", oneSided, onlyOld.String(), 400, "filename is not allowed with multipart/form-data: each part has its own name"},
		"long name":           {"POST", "/v1/lint?filename=" + long, "", "x", 400, "a file name is longer than 1000 bytes"},
		"part's long name":    {"POST", "/v1/lint", longName, named.String(), 400, "a file name is longer than 1000 bytes"},
		"too many parts":      {"POST", "/v1/lint", many, parts.String(), 413, "the body has more than 10000 parts"},
		"plan of one body":    {"POST", "/v1/plan", "application/json", "{}", 415, "a plan needs a multipart/form-data body with parts named old and new"},
		"plan without new":    {"POST", "/v1/plan", oneSided, onlyOld.String(), 400, "no part is named new"},
		"plan of a third":     {"POST", "/v1/plan", third, other.String(), 400, "each part must be named old or new"},
		"unknown transport":   {"POST", "/v1/plan?transport=x", both, sides.String(), 400, `invalid transport "x": must be one of ads-sotw, ads-delta, sotw, delta`},
		"plan of what is not": {"POST", "/v1/plan", both, sides.String(), 400, "old holds 2 configurations, but only one can be compared"},
		"review as YAML":      {"POST", "/k8s/validate", "application/yaml", "x", 415, "an AdmissionReview must be sent as application/json"},
		"broken review":       {"POST", "/k8s/validate", "application/json", "[]", 400, "the body is not an AdmissionReview in JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			response := ask(s, test.method, test.path, test.contentType, strings.NewReader(test.body))
			var got problem
			if err := json.Unmarshal([]byte(text(t, response)), &got); err != nil {
				t.Fatalf("%s: %v", response.Status, err)
			}
			if got.Detail != test.detail || got.Status != test.status || response.StatusCode != test.status || got.Title == "" {
				t.Errorf("%s: %+v, want %d: %s", response.Status, got, test.status, test.detail)
			}
			if got := response.Header.Get("Content-Type"); got != "application/problem+json" {
				t.Errorf("it is %s", got)
			}
			if test.status == http.StatusMethodNotAllowed && response.Header.Get("Allow") == "" {
				t.Error("which method is allowed, it does not say")
			}
		})
	}
	for _, codings := range [][]string{{"Content-Encoding", "gzip"}, {"Content-Encoding", "identity", "Content-Encoding", "gzip"}} {
		if response := ask(s, "POST", "/v1/lint", "", strings.NewReader("x"), codings...); response.StatusCode != http.StatusUnsupportedMediaType {
			t.Errorf("a compressed body, %v: %s", codings, response.Status)
		}
	}
	if held := gauge(t, s.metrics.held); held != 0 {
		t.Errorf("%v bytes are still held", held)
	}
}

// A review is answered with its response.
func TestReview(t *testing.T) {
	var log logged
	s := made(t, Options{Linter: fake{lint: func(context.Context, map[string][]byte) (*xdslint.Report, error) {
		return nil, errors.New("no luck")
	}}})
	const review = `{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "u-1", "operation": "CREATE", "object": {"kind": "ConfigMap"}}}`
	response := ask(s, "POST", "/k8s/validate?timeout=10s", jsonType, strings.NewReader(review))
	const want = `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"u-1","allowed":true,"warnings":["xdslint: this object was not checked: no luck"]}}`
	if got := text(t, response); response.StatusCode != http.StatusOK || got != want {
		t.Errorf("%s: %s\n%s", response.Status, got, &log.text)
	}
}

// TestLog: the log has a line for each request, without any part of the body or of the values in the query.
func TestLog(t *testing.T) {
	var log logged
	s := made(t, Options{Log: log.logger(), Linter: fake{plan: func(context.Context, map[string][]byte, map[string][]byte, lint.Push) (*plan.Outcome, error) {
		return nil, errors.New(`old: "hunter2" is no number`)
	}}})
	contentType, body := form(t, sent{"old", "hunter2", "hunter2"}, sent{"new", "a", "hunter2"})
	for _, response := range []*http.Response{
		ask(s, "POST", "/v1/lint?filename=hunter2", "", strings.NewReader("hunter2")),
		ask(s, "POST", "/v1/lint?password=hunter2", "hunter2/hunter2", strings.NewReader("hunter2"), "Authorization", "hunter2"),
		ask(s, "POST", "/v1/lint", "hunter2/hunter2", strings.NewReader("hunter2")),
		ask(s, "POST", "/v1/plan?transport=hunter2", contentType, body),
		ask(s, "POST", "/v1/plan", contentType, body),
		ask(s, "POST", "/k8s/validate", jsonType, strings.NewReader(`{"kind": 1, "hunter2": "hunter2"}`)),
		ask(s, "GET", "/healthz", "", nil), // not logged
		ask(s, "HEAD", "/healthz", "", nil),
	} {
		_ = response.Body.Close()
	}
	lines := strings.Count(log.String(), "\n")
	if lines != 6 || strings.Contains(log.String(), "hunter2") {
		t.Errorf("%d lines:\n%s", lines, &log.text)
	}
	if want := "method=POST path=/v1/lint status=200 read=7 "; !strings.Contains(log.String(), want) {
		t.Errorf("the log lacks %q:\n%s", want, &log.text)
	}
}

// A HEAD of what can be got is answered.
func TestHead(t *testing.T) {
	s := made(t, Options{})
	for _, path := range []string{"/healthz", "/openapi.yaml"} {
		if response := ask(s, "HEAD", path, "", nil); response.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", path, response.Status)
		}
	}
}

// TestReadAll: a body in any form is read as it was sent. Its memory is charged, and never exceeds the budget.
func TestReadAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMetrics()
		limit := int64(rapid.IntRange(1, 100_000).Draw(t, "limit"))
		b := newBudget(int64(rapid.IntRange(1, 200_000).Draw(t, "budget")), m.held)
		sent := bytes.Repeat([]byte("0123456789"), rapid.IntRange(0, 11_000).Draw(t, "size"))
		sent = sent[:min(int64(len(sent)), limit)]
		announced := int64(-1)
		if rapid.Bool().Draw(t, "announced") {
			announced = int64(len(sent))
		}
		c := b.charge()
		got, err := c.readAll(&dribble{t: t, from: bytes.NewReader(sent)}, announced, limit)
		if err != nil {
			if !errors.Is(err, errFull) || int64(len(sent))*3+4096 < b.size {
				t.Fatal(err)
			}
		} else {
			if !bytes.Equal(got, sent) {
				t.Fatal("another text")
			}
			if int64(cap(got)) != c.bytes {
				t.Fatalf("%d bytes are charged for %d", c.bytes, cap(got))
			}
		}
		c.release()
		if !b.free.TryAcquire(b.size) {
			t.Fatal("part of the budget is gone")
		}
	})
}

// TestAnswer: an answer is charged while it is written. It ends when the budget or the time of its work ends.
func TestAnswer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMetrics()
		b := newBudget(20<<20, m.held)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		a := &answer{ctx: ctx, held: b.charge()}
		var want []byte
		for _, size := range rapid.SliceOfN(rapid.IntRange(0, 1<<20), 0, 8).Draw(t, "writes") {
			p := bytes.Repeat([]byte{byte(len(want))}, size)
			want = append(want, p...)
			if n, err := a.Write(p); err != nil || n != size {
				t.Fatalf("%d of %d bytes, %v", n, size, err)
			}
		}
		if !bytes.Equal(bytes.Join(a.pieces, nil), want) {
			t.Fatal("another text")
		}
		if a.held.bytes > 2*int64(len(want))+4<<10 || a.held.bytes < int64(len(want)) {
			t.Fatalf("%d bytes are charged for %d", a.held.bytes, len(want))
		}
		n, err := a.Write(make([]byte, 11<<20))
		if p, ok := errors.AsType[*problem](err); !ok || p.Status != http.StatusRequestEntityTooLarge || n == 0 || a.held.bytes > b.size/2 {
			t.Fatalf("more than there is room for: %d bytes, %v", n, err)
		}
		a.held.release()
		cancel()
		if _, err := (&answer{ctx: ctx, held: b.charge()}).Write([]byte("x")); !errors.Is(err, context.Canceled) {
			t.Fatalf("late: %v", err)
		}
	})
}

// dribble gives a few bytes at a time.
type dribble struct {
	t    *rapid.T
	from io.Reader
}

func (d *dribble) Read(p []byte) (int, error) {
	return d.from.Read(p[:min(len(p), rapid.IntRange(1, 9000).Draw(d.t, "read"))])
}

// TestWebhookOnly: only AdmissionReviews are judged, and probes and metrics go on.
func TestWebhookOnly(t *testing.T) {
	s := made(t, Options{WebhookOnly: true})
	for path, want := range map[string]int{
		"/v1/lint": 404, "/v1/plan": 404, "/openapi.yaml": 404, "/healthz": 200, "/readyz": 200, "/metrics": 200,
		"/k8s/validate": 405, // it takes only POST
	} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("GET", path, http.NoBody))
		if w.Code != want {
			t.Errorf("%s: %d, want %d", path, w.Code, want)
		}
	}
}
