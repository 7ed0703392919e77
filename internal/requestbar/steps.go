package requestbar

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/asjson"
	"github.com/xdslint/xdslint/internal/decode/types"
	"github.com/xdslint/xdslint/internal/redact"
	"github.com/xdslint/xdslint/internal/walk"
	"github.com/xdslint/xdslint/internal/words"
)

// maxPassed limits the candidates of a step.
const maxPassed = 50

// tell makes the steps of a walk, in its order: where the request goes, the filters, and the clusters.
func (a *Answer) tell(w *walk.Walker, found *walk.Answer) {
	for _, level := range []struct {
		kind, name string
		at         graph.At
	}{
		{"listener", found.Listener, found.At.Listener},
		{"filter chain", found.Chain, found.At.Chain},
		{"scope", found.Scope, found.At.Scope},
		{"route configuration", found.Table, found.At.Table},
		{"virtual host", found.VirtualHost, found.At.Host},
		{"route", found.Route, found.At.Route},
	} {
		a.place(level.kind, level.name, level.at, found)
	}
	for i := range found.Filters {
		f := &found.Filters[i]
		says := f.Says()
		if f.Why != "" {
			says += ": " + f.Why
		}
		step := Step{Kind: "filter", Name: f.Name, Says: says, State: f.Does, Location: locationOf(f.Filter.At), Settings: settings(f)}
		if f.State.Off && f.State.Level != nil {
			step.Location = locationOf(f.State.At)
		}
		a.add(step)
	}
	a.clusters(w, found)
	a.Outcome, a.Doubtful, a.Unknown = found.Outcome(), found.Doubtful(), doubtsOf(found.Unknown)
	switch {
	case found.Cluster != nil || len(found.Weighted) > 0:
		a.Tone = passes
	case found.Details != "" || found.Closed != "":
		a.Tone = answers
	}
}

// add adds a step. Lists are never null in JSON.
func (a *Answer) add(s Step) {
	s.Name, s.Says = words.Name(s.Name), words.Printable(s.Says)
	s.Settings, s.Passed = append([]Setting{}, s.Settings...), append([]Candidate{}, s.Passed...)
	a.Steps = append(a.Steps, s)
}

// place adds a step on the way to the route, with the candidates that did not take the request.
func (a *Answer) place(kind, name string, at graph.At, found *walk.Answer) {
	step := Step{Kind: kind, Name: name, Location: locationOf(at)}
	for _, p := range found.Passed {
		if p.Kind != kind {
			continue
		}
		for _, level := range p.Some {
			step.Passed = append(step.Passed, Candidate{words.Name(walk.RouteName(level)), p.Why, locationOf(level.At)})
		}
		if rest := p.Rest(); rest != "" {
			step.Passed = append(step.Passed, Candidate{words.Name(rest), p.Why, locationOf(p.At)})
		}
	}
	if more := len(step.Passed) - maxPassed; more > 0 {
		step.Passed = append(step.Passed[:maxPassed], Candidate{Name: words.Count(more, "more candidate"), Why: "not listed"})
	}
	if name == "" && len(step.Passed) == 0 {
		return
	}
	if name == "" {
		step.Says = "none of them takes the request"
		if found.Unknown[strings.TrimPrefix(kind, "filter ")] != "" {
			step.Says = "not known: " + found.Unknown[strings.TrimPrefix(kind, "filter ")]
		}
	}
	a.add(step)
}

// clusters adds the clusters with their endpoints.
func (a *Answer) clusters(w *walk.Walker, found *walk.Answer) {
	if found.Cluster != nil {
		a.cluster(w, *found.Cluster, "", "")
	}
	for _, name := range slices.Sorted(maps.Keys(found.Weighted)) {
		a.cluster(w, name, found.Weighted[name].Says(), "")
	}
	if found.Cluster == nil && len(found.Weighted) == 0 && found.Target != "" {
		a.cluster(w, found.Target, "does not get the request", unreached)
	}
}

// maxEndpoints limits the localities of a cluster, and the addresses of each.
const maxEndpoints = 20

func (a *Answer) cluster(w *walk.Walker, name, says, state string) {
	at, all, ok := w.Cluster(name)
	if !ok && says == "" {
		says = "is not in these texts"
	}
	a.add(Step{Kind: "cluster", Name: name, Says: says, State: state, Location: locationOf(at)})
	if state == unreached {
		return
	}
	for i := range all[:min(len(all), maxEndpoints)] {
		a.add(Step{Kind: "endpoints", Name: all[i].Where(), Says: words.Few(all[i].Addresses, maxEndpoints), Location: locationOf(all[i].At)})
	}
}

// settings returns what configures a filter that runs: what the filter chain says, and the most specific part of the route table that says something else.
func settings(f *walk.FilterStep) (all []Setting) {
	if f.State.Off {
		return nil
	}
	add := func(of string, m proto.Message, at graph.At) {
		if m == nil {
			return
		}
		if text := textOf(m); text != "{}" {
			all = append(all, Setting{of, text, locationOf(at)})
		}
	}
	if f.State.Config != nil {
		add(f.Config, f.State.Config, f.State.At)
	}
	add("filter chain", f.Filter.Config, f.Filter.Own)
	return all
}

// maxSetting limits the text of a configuration.
const maxSetting = 4000

// textOf returns a message as JSON without its secrets.
func textOf(m proto.Message) string {
	raw, err := asjson.Writer{Types: types.Envoy, Fault: func(int, string) {}}.JSON(redact.Message(m, nil))
	if err != nil {
		return "{}"
	}
	var out bytes.Buffer
	if err := json.Indent(&out, raw, "", "  "); err != nil {
		return "{}"
	}
	if text := out.String(); len(text) <= maxSetting {
		return text
	}
	return strings.ToValidUTF8(out.String()[:maxSetting], "") + " …"
}
