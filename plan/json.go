package plan

import (
	"encoding/json"
	"io"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/report"
	"github.com/xdslint/xdslint/lint"
)

// The shape of JSON. It is stable: fields are added, never renamed, removed or given another meaning.
type (
	// Shape is the JSON form of an outcome.
	Shape struct {
		Hazards   []report.Finding `json:"hazards"`
		Notes     []report.Finding `json:"notes"`
		Phases    []jsonPhase      `json:"phases"`
		Remaining []report.Finding `json:"remaining"`
		Restart   []Resource       `json:"restart"`
		Broken    []report.Finding `json:"broken"` // the reasons if no plan was made
	}
	jsonPhase struct {
		Send map[string]jsonSend `json:"send"` // by type URL; a server sends clusters before endpoints, listeners before routes
		Wait []jsonWait          `json:"wait"`
		Why  string              `json:"why"`
	}
	jsonSend struct {
		Update []jsonUpdate `json:"update"`
		Remove []string     `json:"remove"`
	}
	jsonUpdate struct {
		Name    string  `json:"name"`
		Content Content `json:"content"`
		Touched []Touch `json:"touched,omitempty"`
	}
	jsonWait struct {
		For     Barrier  `json:"for"`
		Type    string   `json:"type"`
		Names   []string `json:"names"`
		Timeout string   `json:"timeout"`
	}
)

// Shape returns what JSON writes: the hazards of the plain push, what is worth knowing, and the phases.
func (o *Outcome) Shape() Shape {
	hazards, notes := o.hazards()
	out := Shape{
		Hazards: report.Findings(hazards), Notes: report.Findings(notes), Phases: []jsonPhase{}, Remaining: []report.Finding{}, Restart: []Resource{}, Broken: []report.Finding{},
	}
	if o.Broken != nil {
		out.Broken = report.Findings(o.Broken)
	}
	if o.Plan != nil {
		out.Restart = append(out.Restart, o.Plan.Restart...)
		out.Remaining = report.Findings(o.Remaining)
		for _, phase := range o.Plan.Phases {
			out.Phases = append(out.Phases, phaseJSON(phase))
		}
	}
	return out
}

// JSON writes the outcome for programs.
func (o *Outcome) JSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(o.Shape())
}

func phaseJSON(phase Phase) jsonPhase {
	out := jsonPhase{Send: map[string]jsonSend{}, Wait: []jsonWait{}, Why: phase.Why}
	for _, s := range phase.Send {
		one := jsonSend{Update: []jsonUpdate{}, Remove: append([]string{}, s.Remove...)}
		for _, u := range s.Update {
			one.Update = append(one.Update, jsonUpdate{u.Name, u.Content, u.Touched})
		}
		out.Send[graph.TypeURL(s.Kind)] = one
	}
	for _, wait := range phase.Wait {
		out.Wait = append(out.Wait, jsonWait{wait.For, graph.TypeURL(wait.Kind), wait.Names, wait.Timeout.String()})
	}
	return out
}

// Outcome is what a plain push would break, and the plan that avoids it: the output of `xdslint plan`.
type Outcome struct {
	Hazards   *lint.Result // of Hazards
	Plan      *Plan        // nil if none was made
	Remaining *lint.Result // of Plan.Remaining
	Broken    *lint.Result // what Broken found in the new snapshot; nil: not checked
}

// hazards returns the findings that fail requests, and notes those that are only worth knowing.
func (o *Outcome) hazards() (hazards, notes *lint.Result) {
	var bad, good []lint.Diagnostic
	for _, d := range o.Hazards.Diagnostics {
		if d.Severity > lint.Info {
			bad = append(bad, d)
		} else {
			good = append(good, d)
		}
	}
	return o.with(bad), o.with(good)
}

func (o *Outcome) with(all []lint.Diagnostic) *lint.Result {
	copied := *o.Hazards
	copied.Diagnostics = all
	return &copied
}
