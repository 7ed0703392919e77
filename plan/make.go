package plan

import (
	"maps"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
)

// Make finds an order in which a data plane gets from one snapshot to the next without a failed request. A new resource is sent, and has warmed,
// before a resource that refers to it. Endpoints are sent again after a cluster that changed. A resource is removed only when nothing uses it
// any more, draining connections included. The same snapshots give the same plan.
func Make(changes *graph.Changes, opts Options) *Plan {
	p := newPlanner(changes, opts)
	p.steps()
	if p.forGRPC() {
		p.references()
		p.channels()
	} else {
		p.subsets()
		p.manners()
		p.references()
		p.listeners()
		p.scopes()
		p.filters()
		p.drains()
	}
	p.level()
	p.resends()
	return &Plan{Phases: p.phases(), Restart: restart(changes.Old, changes.New), planner: p}
}

// step is what happens to one resource.
type step struct {
	Resource
	change  *graph.Change // nil: a step of the plan only, not a change between the snapshots
	removes bool
	update  Update          // unless removes
	like    *graph.Resource // unless removes: refers to what this one refers to
	part    part
	level   int // the phase, once the order is known
}

// part is what a step is for, if it is not simply a change between the snapshots.
type part int

const (
	whole      part = iota
	fetching        // a scope that makes Envoy fetch a route configuration
	standIn         // a scope that takes the place of one that leaves its key
	succeeding      // the content of the successor, for draining connections
	early           // what is new, next to what is old
	late            // what takes away what draining connections read
	shared          // what is both old and new
	following       // what a cluster must be ready for
)

// order requires that a step comes at least gap phases after another one.
type order struct {
	first, then *step
	gap         int
}

// The gaps: in the same phase or later; only after the data plane has ACKed the phase of the first step.
const (
	notBefore = 0
	nextPhase = 1
)

// wish is a reason for optional orders. They can contradict each other; the first wish wins.
type wish int

const (
	addressFree     wish = iota // a listener leaves its address before another one takes it
	inUseStays                  // what requests use is taken away after they have moved
	contentFirst                // a resource changes before new references to it
	listenersFollow             // listeners are removed after their successors are added
	wishes
)

// planner holds the state of Make.
type planner struct {
	changes *graph.Changes
	opts    Options

	all     []*step
	byName  map[Resource]*step // updates and removals
	orders  []order
	wishes  [wishes][]order // optional orders
	pending []pending
	names   names
	old     state // of the snapshots
	new     state
	states  []state // before the first phase, and after each

	alone   map[Resource]bool                     // what may be held without a request for it
	away    map[Resource]*graph.Resource          // what is removed until it is requested again
	targets map[*graph.Resource][]int             // what a resource refers to
	users   map[*graph.Resource]map[Resource]bool // the same as sets, by name
	roots   map[graph.Kind]bool                   // kinds that are requested even if nothing refers to them
	early   map[Resource]*step                    // by route configuration: the temporary scope that makes Envoy fetch it

	carriers map[*step]*step             // by step of a scope that leaves its key: that of its substitute
	interims map[Resource]*step          // contents between the old and the new one
	scoped   bool                        // a listener of the new snapshot has scopes
	lost     map[*step]bool              // changes of endpoints by which requests lose the subset that they select
	retained map[*graph.Resource][]*step // by listener: what takes away what only its draining connections read
	dropping map[*step]*step             // by step of a route configuration: that which drops per-route configuration that draining connections read

	arriving map[*step][]Resource // what a step makes clients of gRPC ask for: clusters, and what is below them

	hadAddress, getsAddress map[envoy.ListenSocket][]*graph.Change // of listeners
}

// pending is a drain that removals wait for.
type pending struct {
	wait  Wait
	first *step // begins the drain; nil: it began before this plan
	needs []*step
}

// forGRPC reports whether clients of gRPC get the push, and not Envoy.
func (p *planner) forGRPC() bool { return p.opts.Family == dataplane.GRPC }

func newPlanner(changes *graph.Changes, opts Options) *planner {
	if opts.AckTimeout == 0 {
		opts.AckTimeout = DefaultAckTimeout
	}
	if opts.DrainTime == 0 {
		opts.DrainTime = DefaultDrainTime
	}
	opts.Push = opts.Push.OrDefault()
	p := &planner{
		changes: changes, opts: opts, byName: map[Resource]*step{}, early: map[Resource]*step{}, carriers: map[*step]*step{}, interims: map[Resource]*step{}, lost: map[*step]bool{}, retained: map[*graph.Resource][]*step{}, dropping: map[*step]*step{},
		names: names{numbers: map[Resource]int{}}, targets: map[*graph.Resource][]int{}, users: map[*graph.Resource]map[Resource]bool{}, away: map[Resource]*graph.Resource{},
		arriving: map[*step][]Resource{}, roots: partial(changes.Old, changes.New),
	}
	p.old, p.new = p.holding(changes.Old), p.holding(changes.New)
	p.alone = p.orphans(p.old)
	maps.Copy(p.alone, p.orphans(p.new))
	return p
}

// steps returns a step for each change.
func (p *planner) steps() {
	for _, c := range p.changes.All {
		if !sendable(c.Kind) {
			continue
		}
		s := &step{Resource: Resource{c.Kind, c.Name}, change: c, removes: c.Removed()}
		if !s.removes {
			s.update, s.like = Update{Name: c.Name, Content: New, Message: c.New.Message}, c.New
		}
		p.add(s)
	}
}

func (p *planner) add(s *step) {
	p.all = append(p.all, s)
	p.byName[s.Resource] = s
}

// of returns the step of a resource, or nil if it does not change.
func (p *planner) of(r *graph.Resource) *step {
	if r == nil || r.Delivery != graph.OverXDS {
		return nil
	}
	return p.byName[Resource{r.Kind, r.Name}]
}

func (p *planner) after(first, then *step, gap int) {
	if first != nil && then != nil && first != then {
		p.orders = append(p.orders, order{first, then, gap})
	}
}

// together puts two steps into one phase.
func (p *planner) together(a, b *step) {
	p.after(a, b, notBefore)
	p.after(b, a, notBefore)
}

func (p *planner) prefer(w wish, first, then *step, gap int) {
	if first != nil && then != nil && first != then {
		p.wishes[w] = append(p.wishes[w], order{first, then, gap})
	}
}
