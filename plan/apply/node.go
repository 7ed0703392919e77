package apply

import (
	"context"
	"slices"
	"time"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/plan"
)

// node is all that is known of one node key: several Envoys can share it.
type node struct {
	streams  map[*stream]bool
	leaving  map[*stream]bool // closed less than settle ago
	changed  chan struct{}    // closed with the next event
	run      *session         // nil: none is under way
	draining []drain
	expiry   *time.Timer // when the last drain of a node that nobody is connected to runs out

	// What the next run has to wait for.
	unsettled unsettled
	warm      time.Time // when the first health checks of all clusters are over
}

// settle is how long a closed stream counts as open: an Envoy that lost its connection comes back within that time.
const settle = time.Second

// session is one Run, as long as it lasts.
type session struct {
	node    *node
	cancel  context.CancelCauseFunc
	ended   chan struct{}
	pushed  map[version]int // phases, from 1
	refused *refusal        // the first NACK of what was pushed
}

// version is one of a type.
type version struct{ typeURL, name string }

// refusal is a NACK.
type refusal struct {
	version
	message string
	stream  string
}

func (t *Tracker) node(key string) *node {
	n := t.nodes[key]
	if n == nil {
		n = &node{streams: map[*stream]bool{}, leaving: map[*stream]bool{}, changed: make(chan struct{}), unsettled: unsettled{}}
		t.nodes[key] = n
	}
	return n
}

// forget drops a node of which nothing is left to know.
func (t *Tracker) forget(key string) {
	n := t.nodes[key]
	if n == nil || n.run != nil || len(n.streams)+len(n.leaving) > 0 {
		return
	}
	if n.expiry != nil {
		n.expiry.Stop()
	}
	if n.prune(); len(n.draining) == 0 {
		delete(t.nodes, key)
		return
	}
	last := slices.MaxFunc(n.draining, func(a, b drain) int { return a.until.Compare(b.until) }).until
	n.expiry = time.AfterFunc(time.Until(last), func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.forget(key)
	})
}

// wake has those who wait look again.
func (n *node) wake() {
	close(n.changed)
	n.changed = make(chan struct{})
}

// refuse notes a NACK for the run that pushed the version. One that a run before has taken back may still be on its way.
func (n *node) refuse(r *refusal) {
	if r != nil && n.run != nil && n.run.refused == nil && n.run.pushed[r.version] != 0 {
		n.run.refused = r
	}
}

// transport is how the node's Envoys are connected; where they differ, what serves all of them. Empty: nobody is connected.
func (n *node) transport() lint.Transport {
	var ads, delta bool
	for s := range n.streams {
		ads = ads || s.aggregated()
		delta = delta || s.delta
	}
	switch {
	case len(n.streams) == 0:
		return ""
	case ads && delta:
		return lint.ADSDelta
	case ads:
		return lint.ADSSotW
	case delta:
		return lint.Delta
	}
	return lint.SotW
}

func (n *node) connected() bool { return len(n.streams) > 0 }

// asks tells whether any stream asks for a name.
func (n *node) asks(url, name string) bool {
	for s := range n.streams {
		if sub := s.subscriptions[url]; sub != nil && sub.names[name] {
			return true
		}
	}
	return false
}

// asksAny tells whether any stream asks for one of these names, or has only just been closed.
func (n *node) asksAny(w plan.Wait) bool { return len(n.users(w)) > 0 }

// users lists who asks for these names.
func (n *node) users(w plan.Wait) []string {
	url := graph.TypeURL(w.Kind)
	var all []string
	for _, streams := range []map[*stream]bool{n.streams, n.leaving} {
		for s := range streams {
			sub := s.subscriptions[url]
			if sub != nil && slices.ContainsFunc(w.Names, func(name string) bool { return sub.names[name] }) {
				all = append(all, s.String())
			}
		}
	}
	slices.Sort(all)
	return all
}

// knows tells whether a stream has been sent a version of a type, or came with it.
func (n *node) knows(url, version string) bool {
	for s := range n.streams {
		if sub := s.subscriptions[url]; sub != nil && (sub.sent == version || sub.acked == version) {
			return true
		}
	}
	return false
}

// clients groups the streams with a type by the Envoy that they belong to: an aggregated stream is all that one has, and the others of one share a
// connection. Streams that were closed just now are among them, since an Envoy that comes back at once must not have missed anything.
func (n *node) clients(url string) map[any][]*stream {
	all := map[any][]*stream{}
	for _, streams := range []map[*stream]bool{n.streams, n.leaving} {
		for s := range streams {
			if s.subscriptions[url] == nil {
				continue
			}
			var client any = s
			if !s.aggregated() {
				client = s.peer
			}
			all[client] = append(all[client], s)
		}
	}
	return all
}
