package admission

import (
	"context"
	"sync"
	"time"

	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"

	"github.com/xdslint/xdslint/graph/load/gocp"
)

// patience is how long a node that was not answered can take to request what is new: usually the requests of other types bring it about.
const patience = time.Second

// watches are the requests for names that the gate passed to the cache, by node. The lock is held while the gate sets a snapshot, so that no
// request comes in between.
type watches struct {
	sync.Mutex
	open  map[string]map[*watch]bool
	parts bool // the cache itself answers requests for some of the names: it is not one for ADS
}

// watch is an open SotW request for names. A SnapshotCache for ADS does not answer it while the snapshot has other names of the type, and some
// versions of go-control-plane then lose it (respondSOTWWatches and CreateWatch in pkg/cache/v3/simple.go). Such a cache relies on the node to
// request the other names as well. Where the node does not, the gate answers.
type watch struct {
	gate    *Gate
	node    string
	request *cachev3.Request
	sub     cachev3.Subscription
	answers chan cachev3.Response
	cancel  func()      // in the cache; nil: it is not there
	partial bool        // the snapshot has names that are not requested
	timer   *time.Timer // nil: it does not run
}

// CreateWatch implements cachev3.ConfigWatcher. A SnapshotCache for ADS does not answer a request for some of the names that the snapshot has of
// a type. The gate does. If names that are not requested are new, it first gives the node a second to request them.
func (g *Gate) CreateWatch(request *cachev3.Request, sub cachev3.Subscription, answers chan cachev3.Response) (cancel func(), err error) {
	g.watches.Lock()
	defer g.watches.Unlock()
	if g.watches.parts || sub.IsWildcard() || len(request.GetResourceNames()) == 0 {
		return g.SnapshotCache.CreateWatch(request, sub, answers)
	}
	w := &watch{gate: g, node: g.options.Hash.ID(request.GetNode()), request: request, sub: sub, answers: answers}
	before, _ := g.GetSnapshot(w.node)
	if w.cancel, err = g.SnapshotCache.CreateWatch(request, sub, answers); err != nil {
		return w.cancel, err
	}
	if w.cancel == nil {
		w.cancel = func() {}
	}
	now, _ := g.GetSnapshot(w.node)
	if cap(answers) == 1 && len(answers) == 1 { // it is answered
		g.watches.parts = w.misses(before, nil) && w.misses(now, nil)
		return w.cancel, nil
	}
	g.watches.add(w)
	w.check(now, nil)
	return w.close, nil
}

// set sets a snapshot in the cache. The cache answers the requests that cover its names, and the gate the others.
func (g *Gate) set(ctx context.Context, node string, snapshot cachev3.ResourceSnapshot) error {
	g.watches.Lock()
	defer g.watches.Unlock()
	former, _ := g.GetSnapshot(node)
	for w := range g.watches.open[node] {
		if w.partial && !g.watches.parts {
			w.drop()
		}
	}
	err := g.SnapshotCache.SetSnapshot(ctx, node, snapshot)
	for w := range g.watches.open[node] {
		w.check(snapshot, former)
	}
	return err
}

// recheck looks for requests that were not answered after Options.Push has set snapshots in the cache.
func (g *Gate) recheck(node string) {
	g.watches.Lock()
	defer g.watches.Unlock()
	now, _ := g.GetSnapshot(node)
	for w := range g.watches.open[node] {
		w.check(now, nil)
	}
}

func (ws *watches) add(w *watch) {
	if ws.open[w.node] == nil {
		ws.open[w.node] = map[*watch]bool{}
	}
	ws.open[w.node][w] = true
}

func (ws *watches) remove(w *watch) {
	if delete(ws.open[w.node], w); len(ws.open[w.node]) == 0 {
		delete(ws.open, w.node)
	}
}

// close ends a watch. The server calls it when the next request of the type comes, and when the stream ends.
func (w *watch) close() {
	w.gate.watches.Lock()
	defer w.gate.watches.Unlock()
	w.end()
}

func (w *watch) end() {
	w.stop()
	w.drop()
	w.gate.watches.remove(w)
}

func (w *watch) stop() {
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
}

// drop removes the watch from the cache, if it is still there.
func (w *watch) drop() {
	if w.cancel != nil {
		w.cancel()
		w.cancel = nil
	}
}

// check is called when the snapshot or the watch is new. What the cache does not answer, the gate answers: at once, or if there are names that
// the former snapshot did not have, after some time. The node's next request ends the watch.
func (w *watch) check(snapshot, former cachev3.ResourceSnapshot) {
	if w.gate.watches.parts || gocp.None(snapshot) {
		return
	}
	w.partial = w.misses(snapshot, nil)
	switch {
	case !w.due(snapshot):
		w.stop()
		w.reopen()
	case w.cancel == nil && !w.misses(snapshot, former):
		w.answer(snapshot)
	default:
		w.wait()
	}
}

// misses reports whether a snapshot has names that are neither requested nor in the former snapshot.
func (w *watch) misses(snapshot, former cachev3.ResourceSnapshot) bool {
	if gocp.None(snapshot) {
		return false
	}
	url, asked := w.request.GetTypeUrl(), w.sub.SubscribedResources()
	var had map[string]types.ResourceWithTTL
	if !gocp.None(former) {
		had = former.GetResourcesAndTTL(url)
	}
	for name := range snapshot.GetResourcesAndTTL(url) {
		_, requested := asked[name]
		if _, known := had[name]; !requested && !known {
			return true
		}
	}
	return false
}

// due reports whether the node does not have what it requests.
func (w *watch) due(snapshot cachev3.ResourceSnapshot) bool {
	if snapshot.GetVersion(w.request.GetTypeUrl()) != w.request.GetVersionInfo() {
		return true
	}
	returned := w.sub.ReturnedResources()
	for name := range w.found(snapshot) {
		if _, ok := returned[name]; !ok {
			return true
		}
	}
	return false
}

// reopen puts the watch back into the cache after drop.
func (w *watch) reopen() {
	if w.cancel == nil && len(w.answers) == 0 {
		w.cancel, _ = w.gate.SnapshotCache.CreateWatch(w.request, w.sub, w.answers) // an error is that of sending an answer, and none is due
	}
}

// wait gives the cache and the node time.
func (w *watch) wait() {
	if w.timer == nil {
		w.timer = time.AfterFunc(patience, w.expire)
	}
}

// expire answers the request if the cache has not.
func (w *watch) expire() {
	w.gate.watches.Lock()
	defer w.gate.watches.Unlock()
	if !w.gate.watches.open[w.node][w] {
		return
	}
	w.timer = nil
	if snapshot, err := w.gate.GetSnapshot(w.node); err == nil && w.due(snapshot) {
		w.answer(snapshot)
	}
}

// answer answers the request with the names that it is for. That ends the watch: the node's next request creates another one.
func (w *watch) answer(snapshot cachev3.ResourceSnapshot) {
	url := w.request.GetTypeUrl()
	again := &cachev3.Request{Node: w.request.GetNode(), TypeUrl: url, ResourceNames: w.request.GetResourceNames()}
	fetched, err := w.gate.Fetch(context.Background(), again)
	if err != nil || fetched.GetResponseVersion() != snapshot.GetVersion(url) { // something else has set a snapshot since
		w.wait()
		return
	}
	w.end()
	select {
	case w.answers <- partial{fetched, w, w.found(snapshot)}:
	default: // the node has not read the former answer yet; its next request will get this one
	}
}

// found maps the names that are requested, and that the snapshot has, to their version.
func (w *watch) found(snapshot cachev3.ResourceSnapshot) map[string]string {
	url, all := w.request.GetTypeUrl(), map[string]string{}
	has := snapshot.GetResourcesAndTTL(url)
	for name := range w.sub.SubscribedResources() {
		if _, ok := has[name]; ok {
			all[name] = snapshot.GetVersion(url)
		}
	}
	return all
}

// partial is an answer to a watch.
type partial struct {
	cachev3.Response
	to       *watch
	returned map[string]string
}

func (p partial) GetRequest() *cachev3.Request { return p.to.request }

func (p partial) GetReturnedResources() map[string]string { return p.returned }
