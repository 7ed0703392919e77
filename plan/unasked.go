package plan

import (
	"slices"
	"strings"

	"github.com/xdslint/xdslint/graph"
)

// settle applies steps to a state. Resources of both snapshots that are not requested in between, because one user is
// removed in an earlier phase than the next is added, are removed and added again with the next request. It returns the
// steps of the phase, including these.
func (p *planner) settle(held *state, level int, steps []*step) []*step {
	steps = slices.DeleteFunc(steps, func(s *step) bool {
		if _, away := p.away[s.Resource]; !away || s.change == nil {
			return false
		}
		if s.removes {
			delete(p.away, s.Resource)
		} else {
			p.away[s.Resource] = s.like
		}
		return true
	})
	before := p.states[len(p.states)-1]
	p.apply(held, steps)
	asks, draining := p.asks(*held, false), p.draining(level)
	for at, r := range p.away {
		if asks.include(at) {
			delete(p.away, at)
			held.set(p.names.number(at), r)
			steps = append(steps, &step{Resource: at, like: r, update: p.content(at, r)})
		}
	}
	for number, r := range *held {
		at := p.names.all[number]
		if r == nil || !asked(at.Kind) || asks.seen[number] || p.alone[at] || draining[at] {
			continue
		}
		p.away[at] = r
		held.set(number, nil)
		steps = slices.DeleteFunc(steps, func(s *step) bool { return s.Resource == at })
		if before.at(number) != nil {
			steps = append(steps, &step{Resource: at, removes: true})
		}
	}
	slices.SortStableFunc(steps, func(a, b *step) int {
		if a.Kind != b.Kind {
			return rank(a.Kind) - rank(b.Kind)
		}
		return strings.Compare(a.Name, b.Name)
	})
	return steps
}

// content returns the update to a resource of one of the snapshots.
func (p *planner) content(at Resource, r *graph.Resource) Update {
	u := Update{Name: at.Name, Content: New, Message: r.Message}
	if r == p.changes.Old.Pushed(at.Kind, at.Name) && p.changes.Find(at.Kind, at.Name) != nil {
		u.Content = Old
	}
	return u
}

// orphans returns the resources that a server holds without a request for them.
func (p *planner) orphans(held state) map[Resource]bool {
	asks := p.asks(held, false)
	alone := map[Resource]bool{}
	for number, r := range held {
		if at := p.names.all[number]; r != nil && asked(at.Kind) && !asks.seen[number] {
			alone[at] = true
		}
	}
	return alone
}
