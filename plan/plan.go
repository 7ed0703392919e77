// Package plan finds what a push from one snapshot to the next breaks, and the order in which it breaks nothing. It is pure: two
// snapshots in, a plan out; plan/apply carries it out.
package plan

import (
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

// Options of Make. The zero value is what Envoy and go-control-plane do unless told otherwise.
type Options struct {
	Push lint.Push
	// AckTimeout of each wait for an ACK, which Envoy withholds while clusters warm; 0 stands for DefaultAckTimeout.
	AckTimeout time.Duration
	// DrainTime is Envoy's --drain-time-s; 0 stands for Envoy's default.
	DrainTime time.Duration
	// Repoint gives route configurations that only draining connections still use the content of their successors, instead of
	// waiting until these connections are gone.
	Repoint bool
	// Draining is what an earlier plan, whose end this one replaces, would still have waited for.
	Draining []Drain
}

// Default times: a warming cluster gives up on its endpoints after 15 s (initial_fetch_timeout), and Envoy drains for 600 s.
const (
	DefaultAckTimeout = 30 * time.Second
	DefaultDrainTime  = 600 * time.Second
)

// Plan is the way from one snapshot to the next.
type Plan struct {
	Phases []Phase // empty: there is nothing to push
	// Restart lists what differs in the bootstraps of the two snapshots: no push changes it, the data plane has to start anew.
	Restart []Resource

	planner *planner
}

// Phase is one push, and what must have happened before the next one.
type Phase struct {
	Send []Send // in the order in which the server must send the types
	Wait []Wait
	Why  string
}

// Send is what a phase changes in one type of resources.
type Send struct {
	Kind   graph.Kind
	Update []Update // by name
	Remove []string // by name
}

// Update gives a resource a content.
type Update struct {
	Name    string
	Content Content
	Touched []Touch // of Content Touched: what was changed in it
	// Message to send: that of a resource in one of the snapshots, or the touched one.
	Message proto.Message
}

// Touch is one field of a touched resource that has another value than in the new snapshot.
type Touch struct {
	Field string `json:"field"`
	Value string `json:"value"`
	Why   string `json:"why"`
}

// Content is which content an update has.
type Content string

// The contents: that of the new snapshot (also where the data plane has it already, and needs it again), that of the old one, and the new
// one with a field changed that means nothing, so that a server that compares contents sends it.
const (
	New     Content = "new"
	Old     Content = "old"
	Touched Content = "touched"
)

// Wait is what must be seen before the next phase.
type Wait struct {
	For     Barrier
	Kind    graph.Kind
	Names   []string // by name
	Timeout time.Duration
}

// Barrier is a kind of thing to wait for.
type Barrier string

// The barriers. ACK: the data plane ACKed the kind's last response, which holds these names. Unsubscribe: it no longer asks for these
// names, since the last connection that used them is gone. Drained: the connections of these listeners are gone, which xDS does not show: wait
// out the drain time, or look at the admin interface.
const (
	ACK         Barrier = "ack"
	Unsubscribe Barrier = "unsubscribe"
	Drained     Barrier = "drain"
)

// Drain is what draining connections still need.
type Drain struct {
	Wait  Wait       // shows that they are gone; For is Unsubscribe or Drained
	Needs []Resource // that must not be removed before
}

// Resource names a resource.
type Resource struct {
	Kind graph.Kind `json:"kind"`
	Name string     `json:"name"`
}
