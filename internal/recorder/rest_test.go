package recorder_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/envoytest"
)

// polled is a server of REST.
type polled struct {
	mu        sync.Mutex
	resources map[string][]proto.Message // by path
	version   int
	always    bool // it answers polls although nothing has changed
}

func (p *polled) set(path string, all ...proto.Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.resources[path] = all
	p.version++
}

// ServeHTTP implements http.Handler.
func (p *polled) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	q := &discoveryv3.DiscoveryRequest{}
	if err == nil {
		err = protojson.Unmarshal(body, q)
	}
	all, known := p.resources[r.URL.Path]
	version := fmt.Sprint(p.version)
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	case !known:
		http.NotFound(w, r)
		return
	case q.GetVersionInfo() == version && !p.always:
		w.WriteHeader(http.StatusNotModified)
		return
	}
	answer := &discoveryv3.DiscoveryResponse{VersionInfo: version, TypeUrl: q.GetTypeUrl()}
	for _, m := range all {
		one, err := anypb.New(m)
		if err != nil {
			panic(err) // not in a test
		}
		answer.Resources = append(answer.Resources, one)
	}
	text, err := protojson.Marshal(answer)
	if err != nil {
		panic(err)
	}
	_, _ = w.Write(text) // the client sees it
}

// polling is the bootstrap of an Envoy that polls for clusters, and for their endpoints.
func polling(t *testing.T, addr string) (text, source string) {
	t.Helper()
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	source = `{"resource_api_version": "V3", "api_config_source": {"api_type": "REST", "transport_api_version": "V3", "cluster_names": ["xds"],
		"refresh_delay": "0.05s", "request_timeout": "5s"}}`
	return fmt.Sprintf(`
node: {id: edge-1, cluster: edge}
dynamic_resources:
  cds_config: %s
static_resources:
  clusters:
  - name: xds
    connect_timeout: 5s
    load_assignment:
      cluster_name: xds
      endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: %s, port_value: %s}}}}]}]
`, source, host, port), source
}

// TestREST: a real Envoy polls through the recorder, and follows changes. A server that answers each poll is found.
func TestREST(t *testing.T) {
	envoytest.Need(t)
	for _, always := range []bool{false, true} {
		t.Run(fmt.Sprintf("always %t", always), func(t *testing.T) {
			w := newWorld(t)
			p := &polled{resources: map[string][]proto.Message{}, always: always}
			server := httptest.NewServer(p)
			defer server.Close()
			w.proxy.Stop()
			w.proxy, w.out, w.path, w.addr = record(t, strings.TrimPrefix(server.URL, "http://"))
			text, source := polling(t, w.addr)
			p.set("/v3/discovery:clusters", cluster(t, source, "shop", "1s"))
			p.set("/v3/discovery:endpoints", assignment(t, "shop", "8080"))
			envoy, err := envoytest.Serve(w.ctx, text, ".yaml")
			if err != nil {
				t.Fatal(err)
			}
			defer envoy.Close()
			shows := func(what string) {
				t.Helper()
				w.until(what, func() bool {
					body, err := envoy.Admin(w.ctx, "/clusters")
					return err == nil && strings.Contains(string(body), what)
				})
			}
			shows("shop::127.0.0.1:8080::")
			p.set("/v3/discovery:endpoints", assignment(t, "shop", "8081"))
			shows("shop::127.0.0.1:8081::")
			finds := func() bool {
				text, err := os.ReadFile(w.path)
				return err == nil && len(judged(t, w.path, string(text[:1+bytes.LastIndexByte(text, '\n')]))) > 0
			}
			for pause := time.Second; always && pause < time.Minute && !finds(); pause *= 2 {
				time.Sleep(pause)
			}
			envoy.Close()
			w.until("what is found", func() bool { // on a busy machine, the polls of Envoy can be too slow to count, and these are not
				if !always || finds() {
					return true
				}
				for range 8 {
					post(t, w.addr, "/v3/discovery:endpoints", fmt.Sprintf(`{"node": {"id": "edge-2"}, "version_info": "%d", "type_url": %q}`, p.version, graph.TypeURL(graph.ClusterLoadAssignment)))
				}
				return false
			})
			found := w.end()
			if wrong := len(found) == 0; always == wrong {
				t.Errorf("found %q", found)
			}
			for _, f := range found {
				if !strings.HasPrefix(f, "protocol/poll-answered-unchanged: ") {
					t.Error(f)
				}
			}
		})
	}
}

// post sends a request to the proxy, and returns what is answered.
func post(t *testing.T, addr, path, body string) string {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+addr+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	q.Host = "xds"
	q.Header.Set("X-Token", "x")
	p, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Body.Close()
	got, err := io.ReadAll(p.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(p.StatusCode, p.Header.Get("X-Shop"), string(got))
}

// TestRESTBytes: the proxy changes nothing of what is asked and answered, and leaves other requests out of the recording.
func TestRESTBytes(t *testing.T) {
	const answer = `{"versionInfo": "1", "typeUrl": "t", "resources": [{"@type": "type.googleapis.com/acme.Thing", "secret": "hunter2"}]}`
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // compared below
		asked = append(asked, fmt.Sprintln(r.Method, r.Host, r.URL, r.Header.Get("X-Token"), string(body)))
		w.Header().Set("X-Shop", "a")
		switch r.URL.Path {
		case "/broken":
			http.Error(w, "no", http.StatusTeapot)
		default:
			_, _ = io.WriteString(w, answer)
		}
	}))
	defer server.Close()
	proxy, out, path, addr := record(t, strings.TrimPrefix(server.URL, "http://"))
	if got := post(t, addr, "/v3/discovery:clusters?a=b", `{"node": {"id": "edge-1"}, "odd": 1}`); got != "200a"+answer {
		t.Errorf("got %s", got)
	}
	if got := post(t, addr, "/broken", "x"); got != "418ano\n" {
		t.Errorf("got %s", got)
	}
	post(t, addr, "/v3/discovery:listeners", `{"type_url": hunter2}`)
	want := []string{
		"POST xds /v3/discovery:clusters?a=b x {\"node\": {\"id\": \"edge-1\"}, \"odd\": 1}\n", "POST xds /broken x x\n",
		"POST xds /v3/discovery:listeners x {\"type_url\": hunter2}\n",
	}
	if fmt.Sprint(asked) != fmt.Sprint(want) {
		t.Errorf("asked %q", asked)
	}
	proxy.Stop()
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "hunter2") || strings.Contains(string(text), "broken") || !strings.Contains(string(text), `"unreadable":"it is not JSON of a DiscoveryRequest (line 1:14)"`) ||
		!strings.Contains(string(text), `"left_out":[0],"response":{"version_info":"1","resources":[{"@type":"type.googleapis.com/acme.Thing"}],"type_url":"t"}`) {
		t.Errorf("recorded\n%s", text)
	}
	for line := range strings.Lines(string(text)) {
		if !json.Valid([]byte(line)) {
			t.Errorf("not JSON: %s", line)
		}
	}
}
