package apply

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/plan"
)

// node is what the tracker knows about one node key, which several Envoys can share.
type node struct {
	streams  map[*stream]bool
	leaving  map[*stream]bool // closed less than settle ago
	changed  chan struct{}    // closed with the next event
	run      *session         // nil: none is under way
	draining []drain
	expiry   *time.Timer // fires at the end of the last drain, if no Envoy is connected
	resumes  bool        // its Envoys may still lack what an earlier control plane was sending them

	// What the next run has to wait for.
	unsettled unsettled
	repeats   map[plan.Resource]int // how often a resource got another Delta version, so that the cache sends it again
	warm      time.Time             // end of the first health checks of all clusters
}

// settle is how long a closed stream counts as open: an Envoy that lost its connection reconnects within that time.
const settle = time.Second

// session is one push while it is under way.
type session struct {
	node   *node
	former *session // that it took over from; nil: none, or it has ended
	cancel context.CancelCauseFunc
	ended  chan struct{}
	pushed map[version]int // phases, from 1
	nacked *nack           // the first NACK of what was pushed
}

// version is a version of a type.
type version struct{ typeURL, name string }

// nack is a NACK that a stream sent.
type nack struct {
	version
	message string
	stream  string
}

func (t *Tracker) node(key string) *node {
	n := t.nodes[key]
	if n == nil {
		n = &node{streams: map[*stream]bool{}, leaving: map[*stream]bool{}, changed: make(chan struct{}), unsettled: unsettled{}, repeats: map[plan.Resource]int{}}
		t.nodes[key] = n
	}
	return n
}

// forget drops a node that has neither a push nor streams, when its drains are over.
func (t *Tracker) forget(key string) {
	n := t.nodes[key]
	if n == nil || n.run != nil || n.resumes || len(n.streams)+len(n.leaving) > 0 {
		return
	}
	if n.expiry != nil {
		n.expiry.Stop()
	}
	n.prune()
	var last time.Time
	for _, d := range n.draining {
		if d.until.After(last) {
			last = d.until
		}
	}
	left := time.Until(last)
	if left <= 0 { // also of drains that never began
		delete(t.nodes, key)
		return
	}
	n.expiry = time.AfterFunc(left, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.forget(key)
	})
}

// wake makes all waits check their conditions again.
func (n *node) wake() {
	close(n.changed)
	n.changed = make(chan struct{})
}

// nacked records a NACK for the run that pushed the version. A NACK of a version that an earlier run has withdrawn may still arrive.
func (n *node) nacked(by *nack) {
	if by != nil && n.run != nil && n.run.nacked == nil && n.run.pushed[by.version] != 0 {
		n.run.nacked = by
	}
}

// transport is how the node's Envoys are connected, or, if they differ, a transport whose plans suit all of them. It is empty if none is
// connected.
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

// repeated returns the Delta version of a resource with this hash.
func (n *node) repeated(at plan.Resource, hash string) string {
	if times := n.repeats[at]; times > 0 {
		return fmt.Sprintf("%s~%d", hash, times)
	}
	return hash
}

func (n *node) connected() bool { return len(n.streams) > 0 }

// asks reports whether any stream requests a name.
func (n *node) asks(url, name string) bool {
	for s := range n.streams {
		if sub := s.subscriptions[url]; sub != nil && sub.names[name] {
			return true
		}
	}
	return false
}

// asksAny reports whether any stream requests one of these names, including streams that were just closed.
func (n *node) asksAny(w plan.Wait) bool { return len(n.users(w)) > 0 }

// users lists the Envoys that request one of these names.
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

// knows reports whether a stream was sent a version of a type, or had it when it was opened.
func (n *node) knows(url, version string) bool {
	for s := range n.streams {
		if sub := s.subscriptions[url]; sub != nil && (sub.sent == version || sub.acked == version) {
			return true
		}
	}
	return false
}

// clients groups the streams that request a type by Envoy. Streams that were just closed are included, so that an Envoy that reconnects at
// once misses nothing.
func (n *node) clients(url string) map[any][]*stream {
	all := map[any][]*stream{}
	for _, streams := range []map[*stream]bool{n.streams, n.leaving} {
		for s := range streams {
			if s.subscriptions[url] != nil {
				all[s.client()] = append(all[s.client()], s)
			}
		}
	}
	return all
}

// envoys groups all open streams by Envoy.
func (n *node) envoys() map[any][]*stream {
	all := map[any][]*stream{}
	for s := range n.streams {
		all[s.client()] = append(all[s.client()], s)
	}
	return all
}
