package playground

import (
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/report"
	"github.com/xdslint/xdslint/plan"
)

// planResource is the place of a resource of a plan, and its change.
type planResource struct {
	Kind   graph.Kind       `json:"kind"`
	Name   string           `json:"name"`
	Change string           `json:"change"` // added, changed, removed, same; temporary: in neither snapshot
	Before *report.Location `json:"before,omitempty"`
	After  *report.Location `json:"after,omitempty"`
}

// planResources lists what the phases of a plan and its restart name, in the order in which they do.
func planResources(before, after *graph.Snapshot, p *plan.Plan) []planResource {
	resources := []planResource{}
	if p == nil {
		return resources
	}
	seen := map[plan.Resource]bool{}
	add := func(kind graph.Kind, name string, had, has *graph.Resource) {
		if at := (plan.Resource{Kind: kind, Name: name}); !seen[at] {
			seen[at] = true
			resources = append(resources, planResource{kind, name, becomes(had, has), locationOf(had), locationOf(has)})
		}
	}
	for _, phase := range p.Phases {
		for _, send := range phase.Send {
			for _, update := range send.Update {
				add(send.Kind, update.Name, before.Pushed(send.Kind, update.Name), after.Pushed(send.Kind, update.Name))
			}
			for _, name := range send.Remove {
				add(send.Kind, name, before.Pushed(send.Kind, name), after.Pushed(send.Kind, name))
			}
		}
	}
	for _, r := range p.Restart {
		add(r.Kind, r.Name, before.Find(r.Kind, graph.Anywhere, r.Name), after.Find(r.Kind, graph.Anywhere, r.Name))
	}
	return resources
}

func becomes(had, has *graph.Resource) string {
	switch {
	case had == nil && has == nil:
		return "temporary"
	case had == nil:
		return "added"
	case has == nil:
		return "removed"
	case graph.Equal(had, has):
		return "same"
	}
	return "changed"
}

func locationOf(r *graph.Resource) *report.Location {
	if r == nil {
		return nil
	}
	at := report.Location{File: r.File.Name}
	if r.Text != nil {
		at = report.LocationOf(r.File, r.Text.Span())
	}
	return &at
}
