package plan

import (
	"maps"

	"github.com/xdslint/xdslint/graph"
)

// Make finds an order in which a data plane gets from one snapshot to the next without a failed request: what is new before what
// refers to it, and warm; endpoints again after a cluster that changed; what is gone only when nothing uses it any more, connections that
// drain included. The same snapshots give the same plan.
func Make(changes *graph.Changes, opts Options) *Plan {
	p := newPlanner(changes, opts)
	p.steps()
	p.references()
	p.listeners()
	p.scopes()
	p.drains()
	p.level()
	p.resends()
	return &Plan{Phases: p.phases(), Restart: restart(changes.Old, changes.New), planner: p}
}

// step is what happens to one resource.
type step struct {
	Resource
	change  *graph.Change // nil: no change of the snapshots, but on the way
	removes bool
	update  Update          // unless removes
	like    *graph.Resource // unless removes: refers to what this one refers to
	level   int             // the phase, once the order is known
}

// order says that one step comes gap phases after another one, or later.
type order struct {
	first, then *step
	gap         int
}

// The gaps: in the same phase or later; only when the data plane has ACKed the phase of the first.
const (
	notBefore = 0
	nextPhase = 1
)

// wish is a reason for orders that are worth having, and can contradict each other; the first ones win.
type wish int

const (
	addressFree     wish = iota // a listener moves away before another one takes its address
	endpointsStay               // endpoints shrink after the requests that they had
	contentFirst                // what changes has its new content before what newly refers to it
	listenersFollow             // listeners go after those that take their place have come
	wishes
)

// planner holds what Make works with.
type planner struct {
	changes *graph.Changes
	opts    Options

	all     []*step
	byName  map[Resource]*step // updates and removals
	orders  []order
	wishes  [wishes][]order // orders that are worth having where they fit
	pending []pending
	states  []state // before the first phase, and after each

	alone   map[Resource]bool                     // what may be held though nobody asks for it
	away    map[Resource]*graph.Resource          // what is taken out until somebody asks for it again
	targets map[*graph.Resource][]Resource        // what a resource refers to
	users   map[*graph.Resource]map[Resource]bool // the same, to look up
	roots   map[graph.Kind]bool                   // what is asked for whether anything refers to it or not
	early   map[*step]*step                       // of a route configuration: the temporary scope that has it fetched
}

// pending is a drain that removals have to wait for.
type pending struct {
	wait  Wait
	first *step // begins the drain; nil: it has begun before this plan
	needs []*step
}

func newPlanner(changes *graph.Changes, opts Options) *planner {
	if opts.AckTimeout == 0 {
		opts.AckTimeout = DefaultAckTimeout
	}
	if opts.DrainTime == 0 {
		opts.DrainTime = DefaultDrainTime
	}
	opts.Push = opts.Push.OrDefault()
	p := &planner{
		changes: changes, opts: opts, byName: map[Resource]*step{}, early: map[*step]*step{},
		targets: map[*graph.Resource][]Resource{}, users: map[*graph.Resource]map[Resource]bool{}, away: map[Resource]*graph.Resource{}, roots: partial(changes.Old, changes.New),
	}
	p.alone = p.orphans(changes.Old)
	maps.Copy(p.alone, p.orphans(changes.New))
	return p
}

// steps makes one of each change.
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

// of is the step of a resource that a reference means, nil where it stays as it is.
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

func (p *planner) rather(w wish, first, then *step, gap int) {
	if first != nil && then != nil && first != then {
		p.wishes[w] = append(p.wishes[w], order{first, then, gap})
	}
}
