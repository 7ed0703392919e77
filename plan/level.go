package plan

import "github.com/xdslint/xdslint/graph"

// level gives each step the first phase that all orders allow, and the wishes that fit beside them.
func (p *planner) level() {
	orders := p.possible(p.orders)
	for _, wishes := range p.wishes {
		orders = p.granting(orders, wishes)
	}
	for _, s := range p.all {
		s.level = p.lowest(s)
	}
	for p.raise(orders) || p.lift() {
		continue
	}
	p.last(orders)
}

// lowest level of a step: what an earlier plan still has to wait for cannot go at once.
func (p *planner) lowest(s *step) int {
	for _, d := range p.pending {
		if d.first != nil {
			continue
		}
		for _, need := range d.needs {
			if need == s {
				return 1
			}
		}
	}
	return 0
}

func (p *planner) raise(orders []order) bool {
	raised := false
	for _, o := range orders {
		if at := o.first.level + o.gap; o.then.level < at && at <= len(p.all) {
			o.then.level, raised = at, true
		}
	}
	return raised
}

// lift brings what is new and asked for by name in the phase in which somebody first asks for it.
func (p *planner) lift() bool {
	lifted := false
	for _, s := range p.all {
		if s.change == nil || !s.change.Added() || !asked(s.Kind) {
			continue
		}
		first, found := len(p.all), false
		if scope := p.early[s]; scope != nil {
			first, found = scope.level, true
		}
		for _, e := range p.changes.New.To(s.change.New) {
			user := p.of(e.From)
			if user == nil { // was there before, and has been asking
				first, found = 0, true
				break
			}
			first, found = min(first, user.level), true
		}
		if found && first > s.level {
			s.level, lifted = first, true
		}
	}
	return lifted
}

// last moves the removal of clusters into the last phase that there is anyway: what nothing refers to may still be in use by means
// that no configuration shows, such as a header that names a cluster.
func (p *planner) last(orders []order) {
	end := 0
	for _, s := range p.all {
		end = max(end, s.level)
	}
	for _, s := range p.all {
		if s.removes && s.Kind == graph.Cluster {
			s.level = end
		}
	}
	for p.raise(orders) || p.lift() {
		continue
	}
}
