package plan

import (
	"slices"
	"sort"

	"github.com/xdslint/xdslint/graph"
)

// phases returns one phase for each level that has steps.
func (p *planner) phases() []Phase {
	byLevel := map[int][]*step{}
	for _, s := range p.all {
		byLevel[s.level] = append(byLevel[s.level], s)
	}
	var levels []int
	for level := range byLevel {
		levels = append(levels, level)
	}
	slices.Sort(levels)
	if len(levels) > 0 && levels[0] > 0 { // first wait for the drains of an earlier plan
		levels = append([]int{0}, levels...)
	}
	held := slices.Clone(p.old)
	p.states = append(p.states, slices.Clone(held))
	var phases []Phase
	for i, level := range levels {
		steps := p.settle(&held, level, byLevel[level])
		p.states = append(p.states, slices.Clone(held))
		phase := Phase{Send: sends(steps)}
		phase.Wait = p.arrivals(steps, p.acks(phase.Send, held))
		if i+1 < len(levels) {
			phase.Wait = append(phase.Wait, p.drained(levels[i+1])...)
		}
		phase.Why = p.why(steps, phase.Wait, i == 0, i+1 == len(levels))
		phases = append(phases, phase)
	}
	return phases
}

// sends sorts steps by type, in the order of sending, and by name.
func sends(steps []*step) []Send {
	var all []Send
	for _, t := range types {
		one := Send{Kind: t.kind}
		for _, s := range steps {
			switch {
			case s.Kind != t.kind:
			case s.removes:
				one.Remove = append(one.Remove, s.Name)
			default:
				one.Update = append(one.Update, s.update)
			}
		}
		if len(one.Update)+len(one.Remove) == 0 {
			continue
		}
		sort.Slice(one.Update, func(i, j int) bool { return one.Update[i].Name < one.Update[j].Name })
		sort.Strings(one.Remove)
		all = append(all, one)
	}
	return all
}

// acks returns the waits for what Envoy ACKs in a phase: all clusters, listeners and scopes, and the resources that it
// requests by name because something refers to them.
func (p *planner) acks(sent []Send, now state) []Wait {
	asks := p.asks(now, true)
	byName := func(kind graph.Kind) bool { return asked(kind) || kind == graph.Cluster && p.clustersByName() }
	var waits []Wait
	for _, s := range sent {
		if !p.subscribes(s.Kind, now) {
			continue
		}
		var names []string
		for _, u := range s.Update {
			if !byName(s.Kind) || asks.include(Resource{s.Kind, u.Name}) || u.Content == Touched { // draining connections request the touched ones
				names = append(names, u.Name)
			}
		}
		if !byName(s.Kind) {
			names = append(names, s.Remove...)
		}
		if len(names) > 0 {
			sort.Strings(names)
			waits = append(waits, Wait{For: ACK, Kind: s.Kind, Names: names, Timeout: p.opts.AckTimeout})
		}
	}
	return waits
}

// subscribes reports whether the data plane asks for a kind at all: for scopes only while a listener has any. Runtime
// layers depend on its bootstrap, and nothing comes after them.
func (p *planner) subscribes(kind graph.Kind, now state) bool {
	if kind != graph.ScopedRouteConfiguration || p.roots[graph.RouteConfiguration] {
		return kind != graph.Runtime
	}
	scoped := func(e *graph.Edge) bool {
		return e.Kind == kind && (e.From.Delivery != graph.OverXDS || now.at(p.names.number(Resource{e.From.Kind, e.From.Name})) == e.From)
	}
	return slices.ContainsFunc(p.changes.Old.References(), scoped) || slices.ContainsFunc(p.changes.New.References(), scoped)
}

// drained returns the drains that must end before a level.
func (p *planner) drained(level int) []Wait {
	var waits []Wait
	for _, d := range p.pending {
		if d.due() != level {
			continue
		}
		i := slices.IndexFunc(waits, func(w Wait) bool { return w.For == d.wait.For && w.Kind == d.wait.Kind })
		if i < 0 {
			waits = append(waits, d.wait)
			waits[len(waits)-1].Names = slices.Clone(d.wait.Names)
			continue
		}
		waits[i].Timeout = max(waits[i].Timeout, d.wait.Timeout) // a drain of an earlier plan has less time left
		waits[i].Names = append(waits[i].Names, d.wait.Names...)
		slices.Sort(waits[i].Names)
		waits[i].Names = slices.Compact(waits[i].Names)
	}
	slices.SortFunc(waits, func(a, b Wait) int { return slices.Index(barriers, a.For) - slices.Index(barriers, b.For) })
	return waits
}

// due returns the level before which a drain must end: the first with something that it needs.
func (d pending) due() int {
	due := -1
	for _, s := range d.needs {
		if (d.first == nil || s.level > d.first.level) && (due < 0 || s.level < due) {
			due = s.level
		}
	}
	return due
}

var barriers = []Barrier{ACK, Unsubscribe, Drained}
