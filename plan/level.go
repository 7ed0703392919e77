package plan

import "github.com/xdslint/xdslint/graph"

// level gives each step the first phase that all orders allow, and the wishes that fit.
func (p *planner) level() {
	orders := p.possible(p.orders)
	for _, wishes := range p.wishes {
		orders = p.granting(orders, wishes)
	}
	for _, s := range p.all {
		s.level = p.lowest(s)
	}
	for p.relax(orders) || p.delayToFirstUse() {
		continue
	}
	p.removeClustersLast(orders)
}

// lowest returns the lowest level of a step: removals that an earlier plan has to wait for cannot come first.
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

// relax raises steps to the levels that the orders demand, once. It reports whether any moved.
func (p *planner) relax(orders []order) bool {
	raised := false
	for _, o := range orders {
		if at := o.first.level + o.gap; o.then.level < at && at <= len(p.all) {
			o.then.level, raised = at, true
		}
	}
	return raised
}

// delayToFirstUse moves added resources that are requested by name, and the first scopes, to the phase of the first request
// for them. It reports whether any moved.
func (p *planner) delayToFirstUse() bool {
	scoped := refersTo(p.changes.Old, graph.ScopedRouteConfiguration)
	lifted := false
	for _, s := range p.all {
		if s.change == nil || !s.change.Added() || !asked(s.Kind) && (scoped || s.Kind != graph.ScopedRouteConfiguration) {
			continue
		}
		first, found := len(p.all), false
		if scope := p.early[s.Resource]; scope != nil {
			first, found = scope.level, true
		}
		for _, e := range p.changes.New.To(s.change.New) {
			user := p.of(e.From)
			if user == nil { // existed before, and has been asking
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

// removeClustersLast moves the removal of clusters to the last phase: a cluster that nothing refers to may still be in
// use in ways that the configuration does not show, such as a header that names it.
func (p *planner) removeClustersLast(orders []order) {
	end := 0
	for _, s := range p.all {
		end = max(end, s.level)
	}
	for _, s := range p.all {
		if s.removes && s.Kind == graph.Cluster {
			s.level = end
		}
	}
	for p.relax(orders) || p.delayToFirstUse() {
		continue
	}
}
