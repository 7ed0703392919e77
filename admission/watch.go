package admission

import (
	"context"
	"maps"
	"slices"
	"sync"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"

	"github.com/xdslint/xdslint/graph/load/gocp"
)

// CreateWatch implements cachev3.ConfigWatcher. A node gets what it requests, whatever else the snapshot has: a SnapshotCache for ADS does not
// answer a request for some of the names of a type, and some versions of go-control-plane then forget it. A node that has unsubscribed from its
// last name gets nothing.
func (g *Gate) CreateWatch(request *cachev3.Request, sub cachev3.Subscription, answers chan cachev3.Response) (cancel func(), err error) {
	node := g.options.Hash.ID(request.GetNode())
	now, _ := g.GetSnapshot(node)
	request = settled(request, sub, now)
	switch {
	case sub.IsWildcard():
		return g.SnapshotCache.CreateWatch(request, everything{sub, sub.ReturnedResources()}, answers)
	case len(sub.SubscribedResources()) == 0:
		return func() {}, nil
	}
	w := &watch{gate: g, node: node, request: request, sub: sub, answers: answers, news: make(chan cachev3.Response, 1), over: make(chan struct{})}
	if done, err := w.look(nil); done || err != nil {
		return func() {}, err
	}
	go w.follow()
	return w.close, nil
}

// watch is an open SotW request for names. In the cache, there is one for all names in its place, which is only to learn of changes.
type watch struct {
	gate    *Gate
	node    string
	request *cachev3.Request
	sub     cachev3.Subscription
	answers chan cachev3.Response
	news    chan cachev3.Response // from the cache
	over    chan struct{}         // closed when the request is answered or no longer wanted

	mu     sync.Mutex
	cancel func() // in the cache
}

// follow looks for an answer after each change, until there is one.
func (w *watch) follow() {
	for {
		select {
		case news := <-w.news:
			if done, err := w.look(news); done || err != nil { // an error is that of a wildcard watch
				return
			}
		case <-w.over:
			return
		}
	}
}

// look answers the request if there is something to answer, and else waits for the next change.
func (w *watch) look(news cachev3.Response) (done bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended() {
		return true, nil
	}
	now, _ := w.gate.GetSnapshot(w.node)
	if w.due(now) && w.answer(now) || isHeartbeat(news) && w.renew(news) {
		close(w.over)
		return true, nil
	}
	return false, w.await(now)
}

func (w *watch) ended() bool {
	select {
	case <-w.over:
		return true
	default:
		return false
	}
}

// close ends a watch. The server calls it when the next request of the type comes, and when the stream ends.
func (w *watch) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ended() {
		close(w.over)
		w.cancel()
	}
}

// due reports whether the node does not have what it requests.
func (w *watch) due(snapshot cachev3.ResourceSnapshot) bool {
	if gocp.None(snapshot) {
		return false
	}
	if snapshot.GetVersion(w.request.GetTypeUrl()) != w.request.GetVersionInfo() {
		return true
	}
	returned := w.sub.ReturnedResources()
	for name := range wanted(w.request.GetTypeUrl(), w.sub, snapshot) {
		if _, ok := returned[name]; !ok {
			return true
		}
	}
	return false
}

// await asks the cache for the next change of a snapshot.
func (w *watch) await(snapshot cachev3.ResourceSnapshot) (err error) {
	url := w.request.GetTypeUrl()
	next := &cachev3.Request{Node: w.request.GetNode(), TypeUrl: url, VersionInfo: w.request.GetVersionInfo()}
	all := everything{Subscription: w.sub}
	if !gocp.None(snapshot) {
		all.returned = wanted(url, all, snapshot)
	}
	w.cancel, err = w.gate.SnapshotCache.CreateWatch(next, all, w.news)
	if w.cancel == nil {
		w.cancel = func() {}
	}
	return err
}

// everything is a subscription to all names, of which the node has those of a snapshot.
type everything struct {
	cachev3.Subscription
	returned map[string]string
}

func (everything) IsWildcard() bool { return true }

func (everything) SubscribedResources() map[string]struct{} { return nil }

func (e everything) ReturnedResources() map[string]string { return e.returned }

// answer answers the request with what the snapshot has of it, unless something else has set another snapshot since.
func (w *watch) answer(snapshot cachev3.ResourceSnapshot) bool {
	url := w.request.GetTypeUrl()
	again := &cachev3.Request{Node: w.request.GetNode(), TypeUrl: url, ResourceNames: slices.Sorted(maps.Keys(w.sub.SubscribedResources()))}
	fetched, err := w.gate.Fetch(context.Background(), again)
	if err != nil || fetched.GetResponseVersion() != snapshot.GetVersion(url) {
		return false
	}
	w.answers <- answer{fetched, w.request, wanted(url, w.sub, snapshot)} // each request has room for one
	return true
}

// answer is an answer to a watch.
type answer struct {
	cachev3.Response
	to       *cachev3.Request
	returned map[string]string
}

func (a answer) GetRequest() *cachev3.Request { return a.to }

func (a answer) GetReturnedResources() map[string]string { return a.returned }

func isHeartbeat(news cachev3.Response) bool {
	raw, ok := news.(*cachev3.RawResponse)
	return ok && raw.Heartbeat
}

// renew passes on what a heartbeat has of the request.
func (w *watch) renew(heartbeat cachev3.Response) bool {
	all, err := heartbeat.GetDiscoveryResponse()
	if err != nil {
		return false
	}
	some := &discoveryv3.DiscoveryResponse{TypeUrl: all.GetTypeUrl(), VersionInfo: all.GetVersionInfo()}
	for _, body := range all.GetResources() {
		var r discoveryv3.Resource
		if body.UnmarshalTo(&r) != nil {
			return false
		}
		if _, ok := w.sub.SubscribedResources()[r.GetName()]; ok {
			some.Resources = append(some.Resources, body)
		}
	}
	if len(some.Resources) == 0 {
		return false
	}
	w.answers <- renewal{answer{heartbeat, w.request, w.sub.ReturnedResources()}, some}
	return true
}

// renewal is a heartbeat as an answer.
type renewal struct {
	answer
	some *discoveryv3.DiscoveryResponse
}

func (r renewal) GetDiscoveryResponse() (*discoveryv3.DiscoveryResponse, error) { return r.some, nil }
