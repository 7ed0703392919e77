package apply

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	serverv3 "github.com/envoyproxy/go-control-plane/pkg/server/v3"
	"google.golang.org/grpc/peer"
)

// Tracker knows what the connected Envoys request, what they were sent, and what they ACKed. It implements go-control-plane's server
// callbacks: pass it to serverv3.NewServer. Each cache needs its own tracker.
type Tracker struct {
	// Hash is the cache's NodeHash. Set it before the server starts.
	Hash cachev3.NodeHash
	// Callbacks, if set, are called after the tracker has recorded an event. Set them before the server starts.
	Callbacks serverv3.Callbacks

	mu       sync.Mutex
	nodes    map[string]*node
	streams  map[streamKey]*stream
	versions uint64 // the number in the last version that was made
	settle   time.Duration
	patience time.Duration
}

var _ serverv3.Callbacks = (*Tracker)(nil)

// NewTracker returns a tracker for a cache that uses cachev3.IDHash.
func NewTracker() *Tracker {
	return &Tracker{
		Hash: cachev3.IDHash{}, nodes: map[string]*node{}, streams: map[streamKey]*stream{}, settle: settle, patience: patience,
		versions: uint64(rand.Uint32()), // an Envoy may have versions that the control plane made before a restart
	}
}

// streamKey identifies a stream: the server numbers SotW and Delta streams separately.
type streamKey struct {
	id    int64
	delta bool
}

func (t *Tracker) opened(ctx context.Context, key streamKey, typeURL string) {
	s := &stream{delta: key.delta, typeURL: typeURL, subscriptions: map[string]*subscription{}}
	if p, ok := peer.FromContext(ctx); ok {
		s.peer = p.Addr.String()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.streams[key] = s
}

func (t *Tracker) closed(key streamKey) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.streams[key]
	delete(t.streams, key)
	if s == nil || !s.known {
		return
	}
	n := t.node(s.node)
	delete(n.streams, s)
	n.leaving[s] = true
	n.wake()
	time.AfterFunc(t.settle, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.left(n, s)
	})
}

// left is called when a closed stream no longer counts as open.
func (t *Tracker) left(n *node, s *stream) {
	delete(n.leaving, s)
	n.wake()
	t.forget(s.node)
}

// on calls f with a stream and its node, which the first request names.
func (t *Tracker) on(key streamKey, sender *corev3.Node, f func(*stream, *node)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.streams[key]
	if s == nil {
		return
	}
	if !s.known {
		if sender == nil {
			sender = &corev3.Node{}
		}
		s.known, s.node = true, t.Hash.ID(sender)
		t.node(s.node).streams[s] = true
	}
	n := t.node(s.node)
	f(s, n)
	n.wake()
}

// OnStreamOpen implements serverv3.Callbacks.
func (t *Tracker) OnStreamOpen(ctx context.Context, id int64, typeURL string) error {
	t.opened(ctx, streamKey{id, false}, typeURL)
	if t.Callbacks != nil {
		return t.Callbacks.OnStreamOpen(ctx, id, typeURL)
	}
	return nil
}

// OnStreamClosed implements serverv3.Callbacks.
func (t *Tracker) OnStreamClosed(id int64, node *corev3.Node) {
	t.closed(streamKey{id, false})
	if t.Callbacks != nil {
		t.Callbacks.OnStreamClosed(id, node)
	}
}

// OnStreamRequest implements serverv3.Callbacks.
func (t *Tracker) OnStreamRequest(id int64, request *discoveryv3.DiscoveryRequest) error {
	t.on(streamKey{id, false}, request.GetNode(), func(s *stream, n *node) { n.nacked(s.request(request)) })
	if t.Callbacks != nil {
		return t.Callbacks.OnStreamRequest(id, request)
	}
	return nil
}

// OnStreamResponse implements serverv3.Callbacks.
func (t *Tracker) OnStreamResponse(ctx context.Context, id int64, request *discoveryv3.DiscoveryRequest, response *discoveryv3.DiscoveryResponse) {
	t.on(streamKey{id, false}, request.GetNode(), func(s *stream, _ *node) { s.respond(request, response) })
	if t.Callbacks != nil {
		t.Callbacks.OnStreamResponse(ctx, id, request, response)
	}
}

// OnDeltaStreamOpen implements serverv3.Callbacks.
func (t *Tracker) OnDeltaStreamOpen(ctx context.Context, id int64, typeURL string) error {
	t.opened(ctx, streamKey{id, true}, typeURL)
	if t.Callbacks != nil {
		return t.Callbacks.OnDeltaStreamOpen(ctx, id, typeURL)
	}
	return nil
}

// OnDeltaStreamClosed implements serverv3.Callbacks.
func (t *Tracker) OnDeltaStreamClosed(id int64, node *corev3.Node) {
	t.closed(streamKey{id, true})
	if t.Callbacks != nil {
		t.Callbacks.OnDeltaStreamClosed(id, node)
	}
}

// OnStreamDeltaRequest implements serverv3.Callbacks.
func (t *Tracker) OnStreamDeltaRequest(id int64, request *discoveryv3.DeltaDiscoveryRequest) error {
	t.on(streamKey{id, true}, request.GetNode(), func(s *stream, n *node) { n.nacked(s.requestDelta(request)) })
	if t.Callbacks != nil {
		return t.Callbacks.OnStreamDeltaRequest(id, request)
	}
	return nil
}

// OnStreamDeltaResponse implements serverv3.Callbacks.
func (t *Tracker) OnStreamDeltaResponse(id int64, request *discoveryv3.DeltaDiscoveryRequest, response *discoveryv3.DeltaDiscoveryResponse) {
	t.on(streamKey{id, true}, request.GetNode(), func(s *stream, _ *node) { s.respondDelta(request, response) })
	if t.Callbacks != nil {
		t.Callbacks.OnStreamDeltaResponse(id, request, response)
	}
}

// OnFetchRequest implements serverv3.Callbacks.
func (t *Tracker) OnFetchRequest(ctx context.Context, request *discoveryv3.DiscoveryRequest) error {
	if t.Callbacks != nil {
		return t.Callbacks.OnFetchRequest(ctx, request)
	}
	return nil
}

// OnFetchResponse implements serverv3.Callbacks.
func (t *Tracker) OnFetchResponse(request *discoveryv3.DiscoveryRequest, response *discoveryv3.DiscoveryResponse) {
	if t.Callbacks != nil {
		t.Callbacks.OnFetchResponse(request, response)
	}
}
