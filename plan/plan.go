package plan

import (
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

// Options configure Make. The zero value stands for the defaults of Envoy and go-control-plane.
type Options struct {
	Push lint.Push
	// AckTimeout limits each wait for an ACK, which Envoy withholds while clusters warm; 0 stands for DefaultAckTimeout. A cluster whose
	// endpoints do not come warms for 15 s (initial_fetch_timeout): with less than that, a push that corrects such a cluster can time out too.
	AckTimeout time.Duration
	// DrainTime is Envoy's --drain-time-s; 0 stands for Envoy's default.
	DrainTime time.Duration
	// Repoint gives route configurations that only draining connections use the content of their successors, instead of
	// waiting until these connections are closed.
	Repoint bool
	// Family is the data planes that get the push: Envoy if it is empty. Clients of gRPC need fewer phases than Envoy, and another content between.
	Family dataplane.Family
	// Draining lists the drains that an unfinished earlier plan, which this one replaces, had still to wait for.
	Draining []Drain
}

// The defaults of Options. DefaultAckTimeout leaves time for clusters that stop warming without endpoints after 15 s (initial_fetch_timeout).
// DefaultDrainTime is that of Envoy.
const (
	DefaultAckTimeout = 30 * time.Second
	DefaultDrainTime  = 600 * time.Second
)

// Plan is a sequence of pushes from one snapshot to the next.
type Plan struct {
	Phases []Phase // empty: nothing to push
	// Restart lists what differs in the bootstraps of the two snapshots. No push changes it: the data plane has to be restarted.
	Restart []Resource

	planner *planner
}

// Phase is one push, and what to wait for before the next one.
type Phase struct {
	Send []Send // in the order in which the server must send the types
	Wait []Wait
	Why  string
}

// Send is what a phase changes in resources of one type.
type Send struct {
	Kind   graph.Kind
	Update []Update // by name
	Remove []string // by name
}

// Update sets the content of a resource.
type Update struct {
	Name    string
	Content Content
	Touched []Touch // for Content Touched: the changed fields
	// Message to send: that of the resource in one of the snapshots, or the touched one.
	Message proto.Message
}

// Touch is one field of a touched resource whose value is not that in the new snapshot.
type Touch struct {
	Field string `json:"field"`
	Value string `json:"value"`
	Why   string `json:"why"`
}

// Content says where the content of an update is from.
type Content string

// The contents. New: that of the new snapshot, also if the data plane already has it and needs it again. Old: that of
// the old snapshot. Touched: that of the new snapshot with a change that has no effect, so that a server that compares
// contents sends it.
const (
	New     Content = "new"
	Old     Content = "old"
	Touched Content = "touched"
)

// Wait is what must happen before the next phase.
type Wait struct {
	For     Barrier
	Kind    graph.Kind
	Names   []string // by name
	Timeout time.Duration
}

// Barrier is what a Wait waits for.
type Barrier string

// The barriers. ACK: the data plane ACKed the kind's last response, which holds these names. Unsubscribe: it no longer
// asks for these names, since the last connection that used them is closed. Drained: the connections of these listeners
// are closed. XDS does not show that: wait for the drain time, or ask the admin interface.
const (
	ACK         Barrier = "ack"
	Unsubscribe Barrier = "unsubscribe"
	Drained     Barrier = "drain"
)

// Drain lists what draining connections still need.
type Drain struct {
	Wait  Wait       // until they are closed; For is Unsubscribe or Drained
	Needs []Resource // must not be removed before
}

// Resource identifies a resource.
type Resource struct {
	Kind graph.Kind `json:"kind"`
	Name string     `json:"name"`
}
