package reference_test

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	statusv3 "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/internal/recorder"
	"github.com/xdslint/xdslint/internal/reference"
)

// variant is one of the four ways to speak xDS over gRPC.
type variant struct {
	delta, aggregated bool
}

func (v variant) String() string {
	name := "SotW"
	if v.delta {
		name = "Delta"
	}
	if v.aggregated {
		return name + ", aggregated"
	}
	return name + ", separate"
}

var variants = []variant{{false, true}, {false, false}, {true, true}, {true, false}}

// harness connects clients to a store without a network, and records what they say. Its clock only moves as it says.
type harness struct {
	variant
	t       *testing.T
	store   *reference.Store
	out     *recorder.Writer
	path    string
	now     time.Time
	clients []*client
	// alter returns what a client says instead of a request; nil: the request.
	alter func(c *client, q proto.Message) []proto.Message
}

func newHarness(t *testing.T, v variant) *harness {
	t.Helper()
	h := &harness{variant: v, t: t, store: reference.NewStore(), now: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)}
	h.path = filepath.Join(t.TempDir(), "recording.jsonl")
	var err error
	if h.out, err = recorder.Create(h.path, recorder.PartSize); err != nil {
		t.Fatal(err)
	}
	h.out.Now = func() time.Time {
		h.now = h.now.Add(time.Millisecond)
		return h.now
	}
	return h
}

// set changes a resource, and delivers what the server sends.
func (h *harness) set(name string, m proto.Message) {
	h.store.Set(name, m)
	h.deliver()
}

func (h *harness) remove(typeURL, name string) {
	h.store.Delete(typeURL, name)
	h.deliver()
}

func (h *harness) deliver() {
	for _, c := range h.clients {
		for _, key := range slices.Sorted(maps.Keys(c.streams)) {
			c.receive(c.streams[key], c.streams[key].session.Changed())
		}
	}
}

func (h *harness) wait(d time.Duration) { h.now = h.now.Add(d) }

// client is a client that keeps the protocol.
type client struct {
	h       *harness
	node    string
	streams map[string]*stream
	types   map[string]*subscription
	rejects map[string]bool // types of which it rejects the next response
	slow    bool            // it does not read yet
	unread  []proto.Message
}

type stream struct {
	typeURL  string // empty: aggregated
	session  reference.Session
	recorded *recorder.StreamWriter
	asked    bool
}

// subscription is what a client knows about a type.
type subscription struct {
	names    []string
	nonce    string // of the last response on the stream
	version  string
	latest   string // of the last response
	versions map[string]string
	asked    bool // on the stream
}

func (h *harness) client(node string) *client {
	c := &client{h: h, node: node, streams: map[string]*stream{}, types: map[string]*subscription{}, rejects: map[string]bool{}}
	h.clients = append(h.clients, c)
	return c
}

var methods = map[string]string{
	"":                  "/envoy.service.discovery.v3.AggregatedDiscoveryService/AggregatedResources",
	reference.Clusters:  "/envoy.service.cluster.v3.ClusterDiscoveryService/Clusters",
	reference.Endpoints: "/envoy.service.endpoint.v3.EndpointDiscoveryService/Endpoints",
	reference.Listeners: "/envoy.service.listener.v3.ListenerDiscoveryService/Listeners",
	reference.Routes:    "/envoy.service.route.v3.RouteDiscoveryService/Routes",
	reference.Scopes:    "/envoy.service.route.v3.ScopedRoutesDiscoveryService/ScopedRoutes",

	reference.VirtualHosts: "/envoy.service.route.v3.VirtualHostDiscoveryService/VirtualHosts",
}

// method returns the method of a stream.
func (v variant) method(key string) string {
	form := "Stream"
	if v.delta {
		form = "Delta"
	}
	service, call := filepath.Split(methods[key])
	return service + form + call
}

func (c *client) stream(typeURL string) *stream {
	key := typeURL
	if c.h.aggregated {
		key = ""
	}
	if c.streams[key] == nil {
		c.streams[key] = &stream{typeURL: key, session: c.h.store.Open(key, c.h.delta), recorded: c.h.out.Open(c.h.method(key))}
	}
	return c.streams[key]
}

// subscribe adds names to the subscription of a type. Without names, the first one is a wildcard in the legacy form.
func (c *client) subscribe(typeURL string, names ...string) {
	s := c.types[typeURL]
	if s == nil {
		s = &subscription{versions: map[string]string{}}
		c.types[typeURL] = s
	}
	for _, name := range names {
		if !slices.Contains(s.names, name) {
			s.names = append(s.names, name)
		}
	}
	c.request(typeURL, names, nil)
}

// unsubscribe removes names from it.
func (c *client) unsubscribe(typeURL string, names ...string) {
	s := c.types[typeURL]
	s.names = slices.DeleteFunc(s.names, func(name string) bool { return slices.Contains(names, name) })
	for _, name := range names {
		delete(s.versions, name)
	}
	c.request(typeURL, nil, names)
}

// request says to the server what the client wants.
func (c *client) request(typeURL string, more, less []string) {
	s := c.types[typeURL]
	if c.h.delta {
		q := &discoveryv3.DeltaDiscoveryRequest{TypeUrl: typeURL, ResourceNamesSubscribe: more, ResourceNamesUnsubscribe: less}
		if !s.asked {
			q.InitialResourceVersions = maps.Clone(s.versions)
		}
		c.send(typeURL, q)
		return
	}
	c.send(typeURL, &discoveryv3.DiscoveryRequest{TypeUrl: typeURL, ResourceNames: s.names, VersionInfo: s.version, ResponseNonce: s.nonce})
}

func (c *client) send(typeURL string, q proto.Message) {
	c.types[typeURL].asked = true
	st := c.stream(typeURL)
	if !st.asked {
		node := &corev3.Node{Id: c.node}
		switch q := q.(type) {
		case *discoveryv3.DiscoveryRequest:
			q.Node = node
		case *discoveryv3.DeltaDiscoveryRequest:
			q.Node = node
		}
		st.asked = true
	}
	all := []proto.Message{q}
	if c.h.alter != nil {
		all = c.h.alter(c, q)
	}
	for _, q := range all {
		st.recorded.Request(c.marshal(q))
		c.receive(st, st.session.Request(q))
	}
}

func (c *client) marshal(m proto.Message) []byte {
	raw, err := proto.Marshal(m)
	if err != nil {
		c.h.t.Fatal(err)
	}
	return raw
}

// receive answers responses. Like Envoy, it ignores those of a type that it has not requested.
func (c *client) receive(st *stream, all []proto.Message) {
	for _, m := range all {
		st.recorded.Response(c.marshal(m))
		switch {
		case st.typeURL != "" && get(m, "type_url") != st.typeURL:
		case c.slow:
			c.unread = append(c.unread, m)
		default:
			c.take(m)
		}
	}
}

// read answers what a slow client has not read.
func (c *client) read() {
	c.slow = false
	for _, m := range c.unread {
		c.take(m)
	}
	c.unread = nil
}

func (c *client) take(m proto.Message) {
	switch p := m.(type) {
	case *discoveryv3.DiscoveryResponse:
		c.answer(p)
	case *discoveryv3.DeltaDiscoveryResponse:
		c.answerDelta(p)
	}
}

func (c *client) answer(p *discoveryv3.DiscoveryResponse) {
	s := c.types[p.GetTypeUrl()]
	if s == nil {
		return
	}
	s.nonce, s.latest = p.GetNonce(), p.GetVersionInfo()
	q := &discoveryv3.DiscoveryRequest{TypeUrl: p.GetTypeUrl(), ResourceNames: s.names, ResponseNonce: s.nonce}
	if c.rejects[p.GetTypeUrl()] {
		q.ErrorDetail = proto.Clone(failure).(*statusv3.Status)
	} else {
		s.version = p.GetVersionInfo()
	}
	q.VersionInfo = s.version
	c.send(p.GetTypeUrl(), q)
}

func (c *client) answerDelta(p *discoveryv3.DeltaDiscoveryResponse) {
	s := c.types[p.GetTypeUrl()]
	if s == nil {
		return
	}
	q := &discoveryv3.DeltaDiscoveryRequest{TypeUrl: p.GetTypeUrl(), ResponseNonce: p.GetNonce()}
	if c.rejects[p.GetTypeUrl()] {
		q.ErrorDetail = proto.Clone(failure).(*statusv3.Status)
	} else {
		for _, r := range p.GetResources() {
			if len(s.names) == 0 || slices.Contains(s.names, "*") || slices.Contains(s.names, r.GetName()) {
				s.versions[r.GetName()] = r.GetVersion()
			}
		}
		for _, name := range p.GetRemovedResources() {
			delete(s.versions, name)
		}
	}
	c.send(p.GetTypeUrl(), q)
}

// close ends the client's streams.
func (c *client) close() {
	for _, key := range slices.Sorted(maps.Keys(c.streams)) {
		c.streams[key].recorded.Close("OK", "")
	}
	clear(c.streams)
}

// reconnect opens the streams again, as a client that has kept its resources.
func (c *client) reconnect() {
	c.close()
	for _, typeURL := range slices.Sorted(maps.Keys(c.types)) {
		s := c.types[typeURL]
		s.nonce, s.asked = "", false
		if s.version != "" || len(s.versions) > 0 || len(s.names) > 0 {
			c.request(typeURL, s.names, nil)
		}
	}
}
