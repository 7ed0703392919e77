package plan

import (
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/words"
)

// filters keeps the per-route configuration of HTTP filters where the filters are: a route configuration has it before a
// listener has both, and until the connections that drain with the filter are closed.
func (p *planner) filters() {
	tables := map[*step]*shift{}
	at := func(s *step) *shift {
		if tables[s] == nil {
			tables[s] = &shift{comes: map[string]bool{}, goes: map[string]bool{}}
		}
		return tables[s]
	}
	for _, c := range p.changes.Of(graph.Listener) {
		if c.Added() {
			continue
		}
		heirs := p.heirs(c)
		before, after := p.filtered(p.changes.Old, c.Old), p.filtered(p.changes.New, heirs...)
		for s := range before {
			at(s).note(c, heirs, before[s], after[s])
		}
		for s := range after {
			at(s).note(c, heirs, before[s], after[s])
		}
	}
	for s, filters := range p.unread() {
		maps.Copy(at(s).goes, filters)
	}
	for _, s := range slices.Clone(p.all) {
		if tables[s] != nil {
			p.shift(s, tables[s])
		}
	}
}

// unread returns the HTTP filters that only connections may have that began to drain before this plan, by the step of each
// route configuration or virtual host that they need.
func (p *planner) unread() map[*step]map[string]bool {
	all := map[*step]map[string]bool{}
	var known map[*graph.Resource]map[string]bool
	for _, d := range p.opts.Draining {
		for _, need := range d.Needs {
			if s := p.byName[need]; s != nil && s.changesTable() {
				if known == nil {
					known = envoy.UnreadFilterConfigs(p.changes.Old)
				}
				all[s] = known[s.change.Old]
			}
		}
	}
	return all
}

// filtered returns the HTTP filters of listeners, by the step of each route configuration or virtual host that changes and
// that the listeners have.
func (p *planner) filtered(in *graph.Snapshot, listeners ...*graph.Resource) map[*step]map[string]bool {
	all := map[*step]map[string]bool{}
	for _, listener := range listeners {
		for _, table := range envoy.TablesOf(in, listener) {
			if s := p.of(table); s != nil && s.change.Changed() {
				if all[s] == nil {
					all[s] = map[string]bool{}
				}
				maps.Copy(all[s], envoy.HTTPFilters(listener))
			}
		}
	}
	return all
}

// changesTable reports whether a step changes a route configuration or a virtual host.
func (s *step) changesTable() bool {
	return (s.Kind == graph.RouteConfiguration || s.Kind == graph.VirtualHost) && s.change != nil && s.change.Changed()
}

// shift is what changes around a route configuration.
type shift struct {
	comes, goes map[string]bool   // HTTP filters
	to          []*graph.Resource // listeners to which they come
	from        []*graph.Resource // listeners from which they go
}

func (f *shift) note(c *graph.Change, heirs []*graph.Resource, before, after map[string]bool) {
	if goes := missing(before, after); len(goes) > 0 {
		maps.Copy(f.goes, goes)
		f.from = append(f.from, c.Old)
	}
	if comes := missing(after, before); len(comes) > 0 {
		maps.Copy(f.comes, comes)
		f.to = append(f.to, heirs...)
	}
}

// missing returns the names that others do not have.
func missing(names, others map[string]bool) map[string]bool {
	rest := maps.Clone(names)
	maps.DeleteFunc(rest, func(name string, _ bool) bool { return others[name] })
	return rest
}

// shift sends a route configuration in up to three steps: what it adds for filters that come, then everything else, then
// without what it drops for filters that go.
func (p *planner) shift(s *step, f *shift) {
	before, after := s.change.Old.Message, s.change.New.Message
	early, main := envoy.WithFilterConfigs(before, after, f.comes), envoy.WithFilterConfigs(after, before, f.goes)
	first, last := s, s
	if !proto.Equal(early, before) && !proto.Equal(early, main) {
		first = p.interim(s, early, Touch{Field: "typed_per_filter_config", Value: also(f.comes), Why: "the listener gets these filters"})
		for _, target := range p.configured(p.changes.New, s.change.New) {
			if !target.removes && target.change.Added() {
				p.after(target, first, nextPhase)
			}
		}
	}
	if !proto.Equal(main, after) && !proto.Equal(main, before) {
		last = &step{Resource: s.Resource, like: s.like, update: s.update}
		p.all = append(p.all, last)
		s.like, s.update = p.altered(s.like, main), touched(s.Name, main, Touch{
			Field: "typed_per_filter_config", Value: also(f.goes), Why: "draining connections still have these filters",
		})
		p.after(s, last, nextPhase)
		for _, target := range p.configured(p.changes.Old, s.change.Old) {
			if target.removes {
				p.after(last, target, nextPhase)
			}
		}
	}
	if !proto.Equal(early, before) {
		for _, listener := range f.to {
			p.after(first, p.of(listener), nextPhase)
		}
	}
	if !proto.Equal(main, after) {
		last.part, p.dropping[s] = late, last
		for _, listener := range f.from {
			p.retained[listener] = append(p.retained[listener], last)
		}
	}
}

func also(filters map[string]bool) string {
	return "also that of " + list(words.Quoted(slices.Sorted(maps.Keys(filters))))
}

// configured returns the steps of what the per-route configuration of a route configuration refers to.
func (p *planner) configured(in *graph.Snapshot, table *graph.Resource) []*step {
	var all []*step
	for _, e := range in.From(table) {
		if s := p.of(e.To); s != nil && needed(e) && strings.Contains(e.Path.String(), "typed_per_filter_config") {
			all = append(all, s)
		}
	}
	return all
}
