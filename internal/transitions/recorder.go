package transitions

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	resourcev3 "github.com/envoyproxy/go-control-plane/pkg/resource/v3"
	serverv3 "github.com/envoyproxy/go-control-plane/pkg/server/v3"
	statusv3 "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/proto"
)

// recorder sees all requests and responses, after the callbacks that it wraps.
type recorder struct {
	serverv3.Callbacks

	mu        sync.Mutex
	open      map[subscription]string // nonce of a response that has not been answered
	delivered map[string][]byte       // content that was sent last, by type URL and name
	nacks     []string
	answered  time.Time // when the last response was
}

type subscription struct {
	stream int64
	url    string
}

func newRecorder(inner serverv3.Callbacks) *recorder {
	return &recorder{Callbacks: inner, open: map[subscription]string{}, delivered: map[string][]byte{}}
}

// again returns a recorder for the next control plane of the same Envoy, whose streams are all closed.
func (r *recorder) again(inner serverv3.Callbacks) *recorder {
	next := newRecorder(inner)
	next.nacks, next.answered = r.seen()
	r.mu.Lock()
	defer r.mu.Unlock()
	next.delivered = maps.Clone(r.delivered) // over Delta, an Envoy that reconnects is sent only what has changed
	return next
}

func (r *recorder) OnStreamRequest(stream int64, request *discoveryv3.DiscoveryRequest) error {
	err := r.Callbacks.OnStreamRequest(stream, request)
	r.answer(subscription{stream, request.GetTypeUrl()}, request.GetResponseNonce(), request.GetErrorDetail())
	return err
}

func (r *recorder) OnStreamDeltaRequest(stream int64, request *discoveryv3.DeltaDiscoveryRequest) error {
	err := r.Callbacks.OnStreamDeltaRequest(stream, request)
	r.answer(subscription{stream, request.GetTypeUrl()}, request.GetResponseNonce(), request.GetErrorDetail())
	return err
}

func (r *recorder) answer(s subscription, nonce string, detail *statusv3.Status) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if nonce == "" || r.open[s] != nonce {
		return // a subscription, or to something older: while clusters warm only the last response is answered
	}
	delete(r.open, s)
	r.answered = time.Now()
	if detail != nil {
		r.nacks = append(r.nacks, fmt.Sprintf("%s: %s", shortType(s.url), detail.GetMessage()))
	}
}

func (r *recorder) OnStreamResponse(ctx context.Context, stream int64, request *discoveryv3.DiscoveryRequest, response *discoveryv3.DiscoveryResponse) {
	r.Callbacks.OnStreamResponse(ctx, stream, request, response)
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := (subscription{stream, response.GetTypeUrl()}); len(response.GetResources()) > 0 || required[s.url] {
		r.open[s] = response.GetNonce()
	} else {
		delete(r.open, s) // Envoy does not answer if it no longer subscribes
	}
	for _, packed := range response.GetResources() {
		inner, err := packed.UnmarshalNew()
		if err != nil {
			continue
		}
		if wrapped, ok := inner.(*discoveryv3.Resource); ok { // one with a TTL
			if inner, err = wrapped.GetResource().UnmarshalNew(); err != nil {
				continue // a heartbeat
			}
			packed = wrapped.GetResource()
		}
		r.delivered[response.GetTypeUrl()+" "+cachev3.GetResourceName(inner)] = packed.GetValue()
	}
}

func (r *recorder) OnStreamDeltaResponse(stream int64, request *discoveryv3.DeltaDiscoveryRequest, response *discoveryv3.DeltaDiscoveryResponse) {
	r.Callbacks.OnStreamDeltaResponse(stream, request, response)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open[subscription{stream, response.GetTypeUrl()}] = response.GetNonce()
	for _, resource := range response.GetResources() {
		r.delivered[response.GetTypeUrl()+" "+resource.GetName()] = resource.GetResource().GetValue()
	}
}

func (r *recorder) OnStreamClosed(stream int64, n *corev3.Node) {
	r.Callbacks.OnStreamClosed(stream, n)
	r.forget(stream)
}

func (r *recorder) OnDeltaStreamClosed(stream int64, n *corev3.Node) {
	r.Callbacks.OnDeltaStreamClosed(stream, n)
	r.forget(stream)
}

func (r *recorder) forget(stream int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for s := range r.open {
		if s.stream == stream {
			delete(r.open, s)
		}
	}
}

// unanswered lists the types with a response that Envoy has neither ACKed nor NACKed.
func (r *recorder) unanswered() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []string
	for s := range r.open {
		all = append(all, shortType(s.url))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// undelivered lists the resources of a snapshot whose content was never sent, or was replaced by other content afterwards.
func (r *recorder) undelivered(s cachev3.ResourceSnapshot) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []string
	for _, url := range snapshotTypes {
		for name, m := range s.GetResources(url) {
			bytes, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
			if sent, ok := r.delivered[url+" "+name]; err != nil || !ok || string(sent) != string(bytes) {
				all = append(all, shortType(url)+" "+name)
			}
		}
	}
	slices.Sort(all)
	return all
}

// seen returns the NACKs, and the time when the last response was answered.
func (r *recorder) seen() (nacks []string, answered time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.nacks), r.answered
}

// required are the types to which every Envoy subscribes.
var required = map[string]bool{resourcev3.ClusterType: true, resourcev3.ListenerType: true}

// snapshotTypes are the type URLs of the resources in go-control-plane's snapshots.
var snapshotTypes = func() []string {
	var all []string
	for t := range types.UnknownType {
		url, err := cachev3.GetResponseTypeURL(t)
		if err != nil {
			panic(err)
		}
		all = append(all, url)
	}
	return all
}()
