package history

import (
	"slices"
	"time"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/source"
)

// Client is a client of a control plane.
type Client struct {
	Node      string // its id; empty: it sends none
	UserAgent string // user_agent_name of the node: "envoy", "gRPC Go"
	Steps     []*Step
	// Resumed: it has resources from before the recording.
	Resumed bool
	// Several: two streams for all clusters or listeners are open at the same time, so these are several clients.
	Several bool

	node string         // all of it, by which streams are found
	open map[string]int // its open streams by type; an aggregated stream has none
}

// Step is one change of what a client has: a response, or a request that no longer asks for something.
type Step struct {
	File     *source.File
	Line     source.Span
	Number   int // of the line, in all files
	Time     time.Time
	Kind     graph.Kind
	Response bool
	Stream   *Stream

	Verdict  Verdict
	Answered int // the number of the line with the answer; 0: there is none

	complete bool // what it lacks is removed
	set      []item
	removed  []string
}

// Stream is how a client gets resources.
type Stream struct {
	Delta      bool
	Aggregated bool

	client  *Client
	typeURL string                     // of the last request
	asked   map[string]map[string]bool // by type: the names
	listed  map[string][]string        // by type: the names of the last request of SotW
	open    map[string]*Step           // by nonce: the responses without an answer
}

// Verdict is how a client answered a response.
type Verdict uint8

// The verdicts.
const (
	Unanswered Verdict = iota
	Accepted
	Rejected
)

// item is a resource of a response.
type item struct {
	kind    graph.Kind
	name    string // next to it, or in it
	version string
	ttl     time.Duration
	body    source.Span
}

// key identifies a resource.
type key struct {
	kind graph.Kind
	name string
}

// Alone reports whether no other response was under way from when a response was sent to when it was answered.
func (c *Client) Alone(step int) bool {
	own := c.Steps[step]
	return !slices.ContainsFunc(c.Steps, func(other *Step) bool {
		return other != own && other.Response && other.Number < own.Answered && (other.Answered == 0 || other.Answered > own.Number)
	})
}
