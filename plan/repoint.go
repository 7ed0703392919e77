package plan

import (
	"slices"

	"google.golang.org/protobuf/proto"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/graph"
)

// repoint gives the route configuration of draining connections the content of its successor, so that nothing has to
// wait for their end. It reports whether there is a successor.
func (p *planner) repoint(listener *step, used use) bool {
	gone := p.byName[Resource{used.by.Kind, used.by.Names[0]}]
	successor := p.successor(listener)
	if gone == nil || !gone.removes || gone.Kind != graph.RouteConfiguration || successor == nil {
		return false
	}
	table, ok := successor.Message.(*routev3.RouteConfiguration)
	if !ok || table.GetVhds() != nil {
		return false
	}
	copied := proto.CloneOf(table)
	copied.Name = gone.Name
	s := &step{Resource: gone.Resource, part: succeeding, like: p.altered(successor, copied), update: touched(gone.Name, copied, Touch{
		Field: "virtual_hosts", Value: "those of " + quote(table.GetName()), Why: "connections that drain go where new ones go",
	})}
	p.all = append(p.all, s)
	p.alone[gone.Resource] = true // only draining connections request it
	p.after(listener, s, notBefore)
	p.after(p.byName[Resource{graph.RouteConfiguration, table.GetName()}], s, notBefore)
	// The targets of the old content can be removed as soon as it has the new content.
	p.orders = slices.DeleteFunc(p.orders, func(o order) bool { return o.first == gone && o.gap == nextPhase })
	p.after(s, gone, nextPhase)
	for _, need := range used.needs {
		p.after(s, need, nextPhase)
	}
	return true
}

// successor returns the only route configuration of the listener that replaces the old one.
func (p *planner) successor(listener *step) *graph.Resource {
	var found *graph.Resource
	for _, heir := range p.heirs(listener.change) {
		for _, e := range p.changes.New.From(heir) {
			if e.Kind != graph.RouteConfiguration || e.To == nil || e.To == heir || e.To == found {
				continue
			}
			if found != nil {
				return nil
			}
			found = e.To
		}
	}
	return found
}
