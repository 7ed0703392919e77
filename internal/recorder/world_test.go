package recorder_test

import (
	"context"
	"crypto/tls"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/internal/recorder"
	"github.com/xdslint/xdslint/internal/reference"
)

// world is the reference server behind a recording proxy.
type world struct {
	t      *testing.T
	ctx    context.Context
	store  *reference.Store
	server *reference.Server
	proxy  *recorder.Proxy
	out    *recorder.Writer
	path   string
	addr   string // of the proxy

	mu    sync.Mutex
	acks  map[string]int // the answers of the client, by type
	open  int            // responses without an answer
	nacks int
}

// record serves through a proxy what serves at an address.
func record(t testing.TB, upstream string) (proxy *recorder.Proxy, out *recorder.Writer, path, addr string) {
	t.Helper()
	return recordOver(t, upstream, nil)
}

// recordOver is record with TLS to the upstream, or without.
func recordOver(t testing.TB, upstream string, secure *tls.Config) (proxy *recorder.Proxy, out *recorder.Writer, path, addr string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "recording.jsonl")
	out, err := recorder.Create(path, recorder.PartSize)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	proxy = recorder.New(upstream, secure, out)
	go func() { _ = proxy.Serve(l) }() // until Stop
	return proxy, out, path, l.Addr().String()
}

func newWorld(t *testing.T) *world {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	w := &world{t: t, ctx: ctx, store: reference.NewStore(), acks: map[string]int{}}
	w.store.Wrap = func(s reference.Session, _ bool) reference.Session { return &seen{s, w, map[string]bool{}} }
	var err error
	if w.server, err = reference.Serve(w.store, "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	w.proxy, w.out, w.path, w.addr = record(t, w.server.Address)
	return w
}

// reset ends all streams, and serves again at the same address.
func (w *world) reset() {
	w.server.Stop()
	err := error(nil)
	w.until("the port to be free", func() bool {
		w.server, err = reference.Serve(w.store, w.server.Address)
		return err == nil
	})
}

// seen notes what a session says and hears.
type seen struct {
	reference.Session
	w    *world
	open map[string]bool // the nonces of responses without an answer; by w.mu
}

func (s *seen) Request(q proto.Message) []proto.Message {
	s.w.mu.Lock()
	if nonce := textOf(q, "response_nonce"); s.open[nonce] {
		delete(s.open, nonce)
		s.w.open--
		s.w.acks[textOf(q, "type_url")]++
		if q.ProtoReflect().Has(q.ProtoReflect().Descriptor().Fields().ByName("error_detail")) {
			s.w.nacks++
		}
	}
	s.w.mu.Unlock()
	return s.count(s.Session.Request(q))
}

func textOf(m proto.Message, field protoreflect.Name) string {
	return m.ProtoReflect().Get(m.ProtoReflect().Descriptor().Fields().ByName(field)).String()
}

func (s *seen) Changed() []proto.Message { return s.count(s.Session.Changed()) }

func (s *seen) count(out []proto.Message) []proto.Message {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	for _, p := range out {
		s.open[textOf(p, "nonce")] = true
	}
	s.w.open += len(out)
	return out
}

// Close forgets the responses of a stream that has ended: a client can close it instead of answering.
func (s *seen) Close() error {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.w.open -= len(s.open)
	clear(s.open)
	return nil
}

func (w *world) until(what string, f func() bool) {
	w.t.Helper()
	for !f() {
		select {
		case <-w.ctx.Done():
			text, _ := os.ReadFile(w.path)
			w.t.Fatalf("waiting for %s: %v\n%s", what, w.ctx.Err(), text)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// answered makes a change, and waits until the client has answered a response of a type, and all others. An Envoy that serves can still owe answers to
// what came before: those have to be there first.
func (w *world) answered(typeURL string, change func()) {
	w.t.Helper()
	now := func() (int, int) {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.acks[typeURL], w.open
	}
	var before int
	w.until("the answers to what came before", func() bool {
		acks, open := now()
		before = acks
		return open == 0
	})
	change()
	w.until("the answer to "+typeURL, func() bool {
		acks, open := now()
		return acks > before && open == 0
	})
}

// end stops everything, and returns the findings, as rule and message.
func (w *world) end() []string {
	w.t.Helper()
	w.proxy.Stop()
	w.server.Stop()
	return findings(w.t, w.out, w.path)
}

// findings returns what is found, also in the pushes, where clusters may be built again.
func findings(t *testing.T, out *recorder.Writer, path string) (all []string) {
	t.Helper()
	text := lines(t, out, path)
	if t.Failed() || os.Getenv("SHOW_RECORDING") != "" {
		t.Log(text)
	}
	return judged(t, path, text)
}

// judged returns what is found in the text of a recording.
func judged(t *testing.T, path, text string) (all []string) {
	t.Helper()
	o := xdslint.Options{Select: []string{"protocol", "transition"}, Ignore: []string{"transition/cluster-recreate"}}
	report, _, err := xdslint.Trace(t.Context(), o, map[string][]byte{path: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range report.Diagnostics {
		all = append(all, d.Rule.ID()+": "+d.Message)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func parse[M proto.Message](t testing.TB, m M, text string) M {
	t.Helper()
	if err := protojson.Unmarshal([]byte(text), m); err != nil {
		t.Fatal(err)
	}
	return m
}

// ads is where resources come from over the aggregated stream.
const ads = `{"ads": {}, "resource_api_version": "V3"}`

// cluster returns a cluster whose endpoints come from a source.
func cluster(t *testing.T, source, name, timeout string) *clusterv3.Cluster {
	return parse(t, &clusterv3.Cluster{}, `{"name": "`+name+`", "type": "EDS", "connect_timeout": "`+timeout+`", "eds_cluster_config": {"eds_config": `+source+`}}`)
}

func assignment(t *testing.T, name, port string) *endpointv3.ClusterLoadAssignment {
	return parse(t, &endpointv3.ClusterLoadAssignment{}, `{"cluster_name": "`+name+`", "endpoints": [{"locality": {"zone": "a"}, "load_balancing_weight": 1,
		"lb_endpoints": [{"endpoint": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": `+port+`}}}}]}]}`)
}

func listener(t *testing.T, source string) *listenerv3.Listener {
	return parse(t, &listenerv3.Listener{}, `{"name": "web", "address": {"socket_address": {"address": "127.0.0.1", "port_value": 0}},
		"filter_chains": [{"filters": [{"name": "http", "typed_config": `+manager(source)+`}]}]}`)
}

// manager returns an HTTP connection manager whose routes come from a source.
func manager(source string) string {
	return `{"@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
		"stat_prefix": "web", "rds": {"route_config_name": "web", "config_source": ` + source + `},
		"http_filters": [{"name": "router", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}]}`
}

// routes sends the requests for a domain to the cluster shop.
func routes(t *testing.T, domain string) *routev3.RouteConfiguration {
	return parse(t, &routev3.RouteConfiguration{}, `{"name": "web", "virtual_hosts": [{"name": "web", "domains": ["`+domain+`"],
		"routes": [{"match": {"prefix": ""}, "route": {"cluster": "shop"}}]}]}`)
}
