package pull_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/xdslint/xdslint/pull"
)

// web is an HTTP server that answers with texts.
func web(t *testing.T, handle func(path string) (status int, text string)) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, text := handle(r.URL.Path)
		w.WriteHeader(status)
		fmt.Fprint(w, text)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// What is missing at first is requested again.
func TestRESTPolls(t *testing.T) {
	var asked atomic.Int32
	url := web(t, func(path string) (int, string) {
		switch {
		case path == "/v3/discovery:clusters":
			return 200, `{"version_info": "1", "resources": [{"@type": "` + clusters + `", "name": "a", "type": "EDS", "eds_cluster_config": {"eds_config": {"ads": {}}}, "new_field": 1, "transport_socket": {"name": "tls", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext", "common_tls_context": {"tls_certificate_sds_secret_configs": [{"name": "s", "sds_config": {"ads": {}}}]}}}}]}`
		case path == "/v3/discovery:endpoints" && asked.Add(1) > 1:
			return 200, `{"version_info": "2", "resources": [{"@type": "` + endpoints + `", "cluster_name": "a"}]}`
		case path == "/v3/discovery:endpoints":
			return 304, ""
		case path == "/v3/discovery:secrets":
			return 404, "no such page"
		}
		return 200, `{}`
	})
	request := node("n")
	request.Wait = 10 * time.Second
	got, err := pull.REST(t.Context(), pull.Server{Address: url + "/"}, request)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{"cluster": {"a"}, "listener": nil, "cluster_load_assignment": {"a"}, "secret": nil}
	if diff := cmp.Diff(want, byKind(got)); diff != "" {
		t.Error(diff)
	}
	notes := []string{"/v3/discovery:secrets: the server answered 404 Not Found: no such page", "not received: secret s"}
	if diff := cmp.Diff(notes, got.Notes()); diff != "" {
		t.Error(diff)
	}
}

func TestHTTPRefusals(t *testing.T) {
	answers := func(status int, text string) string {
		return web(t, func(string) (int, string) { return status, text })
	}
	for _, c := range []struct{ name, address, want string }{
		{"no URL", "127.0.0.1:9901", "127.0.0.1:9901 is not a URL of a server"},
		{"nobody", "http://127.0.0.1:1", "connection refused"},
		{"a password", "http://me:hunter2@127.0.0.1:1", "http://me:xxxxx@127.0.0.1:1: "},
		{"forbidden", answers(403, "no\nentry"), "the server answered 403 Forbidden: no entry"},
		{"a web page", answers(200, "<html>"), "answer is not"},
		{"TLS to a plain server", strings.Replace(answers(200, ""), "http:", "https:", 1), "the server does not speak TLS: write http://"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := pull.REST(t.Context(), pull.Server{Address: c.address}, node("n"))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("REST: got %v, want %s", err, c.want)
			}
			_, err = pull.Admin(t.Context(), pull.Server{Address: c.address}, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Admin: got %v, want %s", err, c.want)
			}
		})
	}
}

// The admin interface may be a Unix socket. It does not matter if Envoy does not have a page.
func TestAdminSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "admin.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.String() != "/config_dump?include_eds" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, `{"configs": [{"@type": "type.googleapis.com/envoy.admin.v3.RoutesConfigDump", "dynamic_route_configs": [{"route_config":
			{"@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration", "name": "r",
			 "request_headers_to_add": [{"header": {"key": "x-api-key", "value": "hunter2"}}]}}]}]}`)
	})}}
	s.Start()
	defer s.Close()
	dump, err := pull.Admin(t.Context(), pull.Server{Address: "unix://" + path}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if text := string(dump.Config); strings.Contains(text, "hunter2") || !strings.Contains(text, `"value": "[redacted]"`) || dump.Version != "" {
		t.Errorf("%q %s", dump.Version, text)
	}
}

func TestParseNode(t *testing.T) {
	for _, text := range []string{
		"id: edge-1\ncluster: c\nmetadata: {NAMESPACE: shop}\nlocality: {zone: z}", `{"id": "edge-1", "userAgentName": "envoy"}`,
		"node: {id: edge-1}\nstatic_resources: {}",
	} {
		if got, err := pull.ParseNode("x.yaml", []byte(text)); err != nil || got.GetId() != "edge-1" {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{"- a": "x.yaml: this is not a node", "": "x.yaml: this is not a node", "id: 1": "x.yaml: ", "a: [": "x.yaml: ", "name: a": "x.yaml: "} {
		if got, err := pull.ParseNode("x.yaml", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}
