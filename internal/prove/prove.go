// Package prove decides whether two configurations treat all requests alike. It is `xdslint diff --prove`.
//
// [Prove] goes down both configurations side by side:
//
//  1. listeners pairs listeners, and in them the filter chains that take the same connections.
//  2. chains compares what happens to a connection and a request before the routes: TLS, the HTTP connection manager, HTTP filters.
//  3. tables divides the hosts of requests into cells, in each of which both tables choose one virtual host, and compares these two.
//  4. hosts compares two virtual hosts route by route. package dataplane/envoy/match finds the pairs of routes that one request can take. If what they
//     do differs (effects), the request is walked on both sides.
//
// A difference is a request that both walks answer differently: nothing else is printed as one. What differs without such a request, and what is not
// known, is undecided. So the configurations are alike only if there is neither.
package prove

import (
	"slices"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/walk"
)

// Options of a comparison.
type Options struct {
	// ByEndpoints reports whether clusters with different names are the same if everything else about them is.
	ByEndpoints bool
}

// Proof is the result of a comparison.
type Proof struct {
	Alike       bool         `json:"alike"`       // all requests are treated alike
	Differences []Difference `json:"differences"` // one for each pair of routes that part, and not more than MaxDifferences
	Undecided   []string     `json:"undecided"`   // what differs or is not known, without a request that shows it
}

// Difference is a request that the configurations treat differently.
type Difference struct {
	Request *walk.Request `json:"request"`
	Fields  []string      `json:"fields"` // of the answers that differ
	Old     *walk.Answer  `json:"old"`    // nil: no listener takes the connection
	New     *walk.Answer  `json:"new"`
	Curl    string        `json:"curl"`
}

// MaxDifferences limits how many differences a Proof has.
const MaxDifferences = 100

// Prove compares two snapshots.
func Prove(before, after graph.View, o Options) *Proof {
	p := &prover{
		Options: o, old: newSide(before, o), now: newSide(after, o), keys: map[string]int{}, noted: map[string]bool{},
		values: walk.BoundariesOf(before, after), result: &Proof{Differences: []Difference{}, Undecided: []string{}}, unsearched: inAllSearches,
	}
	p.bootstraps()
	p.listeners()
	p.others()
	slices.Sort(p.result.Undecided)
	p.result.Alike = len(p.result.Differences)+len(p.result.Undecided) == 0
	return p.result
}

type prover struct {
	Options
	old, now *side
	keys     map[string]int  // of equal texts
	noted    map[string]bool // in Undecided
	values   walk.Boundaries
	result   *Proof
	// unsearched is how many requests further searches may try.
	unsearched int
}

// side is one of the two snapshots.
type side struct {
	Options
	view     graph.View
	walker   *walk.Walker
	levels   envoy.RouteTables
	clusters map[string]string // what is compared of each, by name
	visible  *visible
}

func newSide(v graph.View, o Options) *side {
	w := walk.New(v)
	w.Brief = true
	return &side{Options: o, view: v, walker: w, levels: envoy.RouteTables{Snapshot: v}, clusters: map[string]string{}, visible: visibleIn(v, w)}
}

// undecided notes what cannot be decided.
func (p *prover) undecided(what string) {
	if !p.noted[what] {
		p.noted[what] = true
		p.result.Undecided = append(p.result.Undecided, what)
	}
}

// full reports whether there are enough differences.
func (p *prover) full() bool { return len(p.result.Differences) >= MaxDifferences }

// key returns a number that is the same for equal texts.
func (p *prover) key(text string) int {
	if _, ok := p.keys[text]; !ok {
		p.keys[text] = len(p.keys)
	}
	return p.keys[text]
}
