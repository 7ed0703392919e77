package lint

import (
	"slices"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
)

// complete adds to the findings what needs all of them, or the whole snapshot.
func (r *runner) complete(s *graph.Snapshot) {
	r.guess(s)
	if r.config.Target.Family() == dataplane.Envoy {
		r.afterRestart(s)
	}
}

// afterRestart adds to the findings for which Envoy rejects a resource what else is lost with it.
func (r *Result) afterRestart(s *graph.Snapshot) {
	notes := map[*graph.Resource]string{}
	for i := range r.Diagnostics {
		d := &r.Diagnostics[i]
		if !d.Rejected {
			continue
		}
		note, known := notes[d.Resource]
		if !known {
			note = envoy.AfterRestart(s, d.Resource)
			notes[d.Resource] = note
		}
		if note != "" {
			d.Notes = append(slices.Clip(d.Notes), note) // the notes of the rule may be those of another run too
		}
	}
}
