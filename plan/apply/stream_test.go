package apply

import (
	"context"
	"slices"
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	serverv3 "github.com/envoyproxy/go-control-plane/pkg/server/v3"
	"google.golang.org/genproto/googleapis/rpc/status"

	"github.com/xdslint/xdslint/internal/redact"
)

func newStream(delta bool) *stream {
	return &stream{delta: delta, subscriptions: map[string]*subscription{}}
}

// While clusters warm, Envoy answers several responses at once, by the last nonce.
func TestLaterACK(t *testing.T) {
	t.Parallel()
	s := newStream(false)
	ask := &discoveryv3.DiscoveryRequest{TypeUrl: eds, ResourceNames: []string{"a", "b"}}
	s.request(ask)
	s.respond(ask, &discoveryv3.DiscoveryResponse{TypeUrl: eds, VersionInfo: "v1", Nonce: "1"})
	s.respond(ask, &discoveryv3.DiscoveryResponse{TypeUrl: eds, VersionInfo: "v2", Nonce: "2"})
	s.respond(ask, &discoveryv3.DiscoveryResponse{TypeUrl: eds, VersionInfo: "v3", Nonce: "3"})
	sub := s.subscriptions[eds]
	s.request(&discoveryv3.DiscoveryRequest{TypeUrl: eds, ResourceNames: []string{"a"}, ResponseNonce: "2", VersionInfo: "v2"})
	if sub.acked != "v2" || len(sub.open) != 1 || sub.asks("b") || !sub.holds.include("b") {
		t.Errorf("after the second ACK: %+v", sub)
	}
	s.request(&discoveryv3.DiscoveryRequest{TypeUrl: eds, ResourceNames: []string{"a"}, ResponseNonce: "1"})
	if sub.acked != "v2" {
		t.Errorf("an old nonce counts: %+v", sub)
	}
	nacked := s.request(&discoveryv3.DiscoveryRequest{TypeUrl: eds, ResponseNonce: "3", ErrorDetail: &status.Status{
		Message: `bad: name: "a" inline_string: "hunter2"`,
	}})
	if nacked == nil || nacked.version != (version{eds, "v3"}) || nacked.message != `bad: name: "a" inline_string: "`+redact.Redaction+`"` || sub.acked != "v2" || sub.asks("a") {
		t.Errorf("after the NACK: %+v, %+v", nacked, sub)
	}
}

func TestDelta(t *testing.T) {
	t.Parallel()
	s := newStream(true)
	s.requestDelta(&discoveryv3.DeltaDiscoveryRequest{
		TypeUrl: eds, ResourceNamesSubscribe: []string{"a", "b", "c"}, InitialResourceVersions: map[string]string{"a": "1"},
	})
	sub := s.subscriptions[eds]
	if sub.wildcard || sub.has["a"] != "1" {
		t.Errorf("after the first request: %+v", sub)
	}
	s.respondDelta(sub.latest, &discoveryv3.DeltaDiscoveryResponse{TypeUrl: eds, Nonce: "1", Resources: []*discoveryv3.Resource{{Name: "b", Version: "2"}, {Name: "c", Version: "2"}}})
	s.respondDelta(sub.latest, &discoveryv3.DeltaDiscoveryResponse{TypeUrl: eds, Nonce: "2", RemovedResources: []string{"a"}})
	s.requestDelta(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: eds, ResourceNamesUnsubscribe: []string{"c"}})
	if sub.has["a"] != "1" || sub.has["b"] != "" {
		t.Errorf("before the ACK: %+v", sub)
	}
	s.requestDelta(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: eds, ResponseNonce: "2"})
	if len(sub.has) != 1 || sub.has["b"] != "2" {
		t.Errorf("after the ACK: %+v", sub.has)
	}

	s.requestDelta(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: cds})
	s.requestDelta(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: cds, ResourceNamesSubscribe: []string{"on-demand"}})
	if sub := s.subscriptions[cds]; !sub.wildcard || !sub.asks("any") {
		t.Errorf("no longer all clusters: %+v", sub)
	}
	s.requestDelta(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: cds, ResourceNamesUnsubscribe: []string{"*"}})
	if sub := s.subscriptions[cds]; sub.wildcard || !sub.asks("on-demand") {
		t.Errorf("all clusters: %+v", sub)
	}
}

// A response that was made before a request is sent after it. The server then takes what that request unsubscribed as sent.
func TestLostSubscription(t *testing.T) {
	t.Parallel()
	s := newStream(true)
	ask := func(subscribe, unsubscribe []string) *discoveryv3.DeltaDiscoveryRequest {
		r := &discoveryv3.DeltaDiscoveryRequest{TypeUrl: eds, ResourceNamesSubscribe: subscribe, ResourceNamesUnsubscribe: unsubscribe}
		s.requestDelta(r)
		return r
	}
	response := &discoveryv3.DeltaDiscoveryResponse{TypeUrl: eds, Resources: []*discoveryv3.Resource{{Name: "a", Version: "2"}}}
	both := ask([]string{"a", "b"}, nil)
	sub := s.subscriptions[eds]
	ask(nil, []string{"b"})
	s.respondDelta(both, response)
	if lost := sub.misses(); len(lost) != 0 {
		t.Errorf("%v is not requested", lost)
	}
	again := ask([]string{"b"}, nil)
	for range 2 {
		if lost := sub.misses(); !slices.Equal(lost, []string{"b"}) {
			t.Errorf("lost: %v", lost)
		}
		s.respondDelta(again, response) // about others
	}
	s.respondDelta(again, &discoveryv3.DeltaDiscoveryResponse{TypeUrl: eds, Resources: []*discoveryv3.Resource{{Name: "b", Version: "1~1"}}})
	if lost := sub.misses(); len(lost) != 0 {
		t.Errorf("still lost: %v", lost)
	}
	none := ask(nil, []string{"b"})
	s.respondDelta(none, response)
	ask([]string{"b"}, nil)
	if lost := sub.misses(); len(lost) != 0 {
		t.Errorf("the server sends what was requested again: %v", lost)
	}
}

func TestWildcard(t *testing.T) {
	t.Parallel()
	s := newStream(false)
	for i, step := range []struct {
		names []string
		all   bool
	}{
		{nil, true}, {[]string{"a"}, false}, {nil, false}, {[]string{"*", "a"}, true}, {nil, false},
	} {
		s.request(&discoveryv3.DiscoveryRequest{TypeUrl: cds, ResourceNames: step.names})
		if got := s.subscriptions[cds].asks("b"); got != step.all {
			t.Errorf("%d: asks for all: %t", i, got)
		}
	}
}

// The tracker passes everything on, and forgets Envoys that have disconnected.
func TestCallbacks(t *testing.T) {
	t.Parallel()
	var calls []string
	call := func(name string) { calls = append(calls, name) }
	tracker := NewTracker()
	tracker.settle = 0
	tracker.Callbacks = serverv3.CallbackFuncs{
		StreamOpenFunc:    func(context.Context, int64, string) error { call("open"); return nil },
		StreamClosedFunc:  func(int64, *corev3.Node) { call("closed") },
		StreamRequestFunc: func(int64, *discoveryv3.DiscoveryRequest) error { call("request"); return nil },
		StreamResponseFunc: func(context.Context, int64, *discoveryv3.DiscoveryRequest, *discoveryv3.DiscoveryResponse) {
			call("response")
		},

		DeltaStreamOpenFunc:    func(context.Context, int64, string) error { call("delta open"); return nil },
		DeltaStreamClosedFunc:  func(int64, *corev3.Node) { call("delta closed") },
		StreamDeltaRequestFunc: func(int64, *discoveryv3.DeltaDiscoveryRequest) error { call("delta request"); return nil },
		StreamDeltaResponseFunc: func(int64, *discoveryv3.DeltaDiscoveryRequest, *discoveryv3.DeltaDiscoveryResponse) {
			call("delta response")
		},

		FetchRequestFunc:  func(context.Context, *discoveryv3.DiscoveryRequest) error { call("fetch"); return nil },
		FetchResponseFunc: func(*discoveryv3.DiscoveryRequest, *discoveryv3.DiscoveryResponse) { call("fetched") },
	}
	ctx, node := context.Background(), &corev3.Node{Id: "edge"}
	request := &discoveryv3.DiscoveryRequest{Node: node, TypeUrl: cds}
	delta := &discoveryv3.DeltaDiscoveryRequest{TypeUrl: cds}
	err := tracker.OnStreamOpen(ctx, 1, "")
	if err == nil {
		err = tracker.OnStreamRequest(1, request)
	}
	tracker.OnStreamResponse(ctx, 1, request, &discoveryv3.DiscoveryResponse{TypeUrl: cds})
	tracker.OnStreamClosed(1, node)
	if err == nil {
		err = tracker.OnDeltaStreamOpen(ctx, 1, cds)
	}
	if err == nil {
		err = tracker.OnStreamDeltaRequest(1, delta)
	}
	tracker.OnStreamDeltaResponse(1, delta, &discoveryv3.DeltaDiscoveryResponse{TypeUrl: cds})
	tracker.OnDeltaStreamClosed(1, node)
	if err == nil {
		err = tracker.OnFetchRequest(ctx, request)
	}
	tracker.OnFetchResponse(request, &discoveryv3.DiscoveryResponse{})
	want := []string{
		"open", "request", "response", "closed", "delta open", "delta request", "delta response", "delta closed", "fetch", "fetched",
	}
	if err != nil || !slices.Equal(calls, want) {
		t.Errorf("%v: %q", err, calls)
	}
	for forgotten := false; !forgotten; {
		tracker.mu.Lock()
		forgotten = len(tracker.nodes)+len(tracker.streams) == 0
		tracker.mu.Unlock()
	}
}
