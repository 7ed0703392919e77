package routetest_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/internal/routetest"
	"github.com/xdslint/xdslint/internal/walk"
)

const logging = `
static_resources:
  listeners:
  - name: main
    address: {socket_address: {address: 127.0.0.1, port_value: 0}}
    filter_chains:
    - filters:
      - name: http
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: in
          access_log:
          - {name: out, typed_config: {"@type": type.googleapis.com/envoy.extensions.access_loggers.stream.v3.StdoutAccessLog}}
          route_config: {virtual_hosts: [{name: all, domains: ["*"], routes: [{match: {prefix: /old}, redirect: {path_redirect: /new}}]}]}
          http_filters: [{name: router, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}]
`

// TestEnvoysLog: what Envoy writes without a format of the configuration becomes a test.
func TestEnvoysLog(t *testing.T) {
	envoytest.Need(t)
	e, err := envoytest.Serve(t.Context(), logging, ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	address, err := e.Addr(t.Context(), "main")
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultTransport.(*http.Transport).RoundTrip(request(t, "http://"+address+"/old/cart?page=2"))
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	for {
		if tests := recorded(t, e.Log()); tests != "" {
			if !strings.Contains(tests, `"path":"/old/cart"`) || !strings.Contains(tests, "status: 301") {
				t.Error(tests)
			}
			return
		}
		if t.Context().Err() != nil {
			t.Fatal(t.Context().Err())
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func request(t *testing.T, url string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// recorded returns the tests of the lines of a log; empty if there are none.
func recorded(t *testing.T, log string) string {
	t.Helper()
	in, err := load.Texts(t.Context(), map[string][]byte{"envoy.yaml": []byte(logging)}, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := in.One("envoy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	lines := newLog(t, &out, s)
	for line := range strings.Lines(log) {
		_ = lines.Line(strings.TrimSpace(line)) // most are about Envoy
	}
	if lines.Tests == 0 {
		return ""
	}
	return out.String()
}

func newLog(t *testing.T, out io.Writer, s *graph.Snapshot) *routetest.LogRecorder {
	t.Helper()
	r, err := routetest.NewRecorder(out, walk.New(s), []string{"envoy.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	return r.OfLog(s)
}
