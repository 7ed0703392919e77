package playground

import (
	"context"
	"fmt"
	"slices"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/config"
	"github.com/xdslint/xdslint/internal/explain"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/plan"
	"github.com/xdslint/xdslint/rules"
)

type aboutAnswer struct {
	Version    string               `json:"version"`
	Targets    []string             `json:"targets"`
	Default    string               `json:"default"`
	Transports []lint.Transport     `json:"transports"`
	Versions   []lint.VersionPolicy `json:"versions"`
	Types      []resourceType       `json:"types"`
	Extensions []string             `json:"extensions"` // of the files that are read in a folder
	Rules      []ruleSummary        `json:"rules"`
}

type resourceType struct {
	Type string     `json:"type"` // its URL
	Kind graph.Kind `json:"kind"`
	API  string     `json:"api"`
}

type ruleSummary struct {
	ID       string `json:"id"`
	Severity string `json:"severity"`
	Summary  string `json:"summary"`
}

func summaryOf(r *lint.Rule) ruleSummary {
	return ruleSummary{r.ID(), r.Severity.String(), explain.Sentence(r.Summary)}
}

func about(context.Context, *request) (any, error) {
	answer := &aboutAnswer{Version: xdslint.Version(), Default: dataplane.Default().String(), Transports: lint.Transports, Versions: lint.VersionPolicies, Extensions: load.TextExtensions()}
	for _, t := range dataplane.All() {
		answer.Targets = append(answer.Targets, t.String())
	}
	for _, kind := range plan.Types() {
		answer.Types = append(answer.Types, resourceType{graph.TypeURL(kind), kind, plan.API(kind)})
	}
	for _, r := range rules.All() {
		answer.Rules = append(answer.Rules, summaryOf(r))
	}
	return answer, nil
}

type explainAnswer struct {
	ruleSummary
	Page string   `json:"page"` // Markdown
	Bad  *example `json:"bad"`
	Good *example `json:"good"`
}

// example is an example that can be judged without other files.
type example struct {
	Before    map[string]string  `json:"before"`
	Files     map[string]string  `json:"files"`
	Targets   []string           `json:"targets"`
	Transport lint.Transport     `json:"transport"`
	Versions  lint.VersionPolicy `json:"versions"`
}

// explainRule explains a built-in rule, or one of the configuration among the request's files.
func explainRule(_ context.Context, q *request) (any, error) {
	p := q.project(q.Files)
	known := append(rules.All(), p.settings.Custom...)
	i := slices.IndexFunc(known, func(r *lint.Rule) bool { return r.ID() == q.Rule })
	if i < 0 {
		return nil, fmt.Errorf("no rule is named %q", q.Rule)
	}
	r := known[i]
	if p.needs != "" && r.Origin != nil {
		return nil, fmt.Errorf("%s is a constraint, which this engine does not know", q.Rule)
	}
	answer := &explainAnswer{ruleSummary: summaryOf(r), Page: explain.Page(r)}
	if e, ok := explain.Of(r); ok {
		answer.Bad, answer.Good = exampleOf(r, e.Bad, e.Flags), exampleOf(r, e.Good, e.GoodFlags)
	}
	return answer, nil
}

// exampleOf returns nil for an example that needs a disk.
func exampleOf(r *lint.Rule, files []explain.File, flags explain.Flags) *example {
	if flags.Root != "" {
		return nil
	}
	e := &example{Before: map[string]string{}, Files: map[string]string{}, Targets: append([]string{}, flags.Targets...), Transport: flags.Push.Transport, Versions: flags.Push.Versions}
	for _, f := range files {
		side := e.Files
		if r.Transitional() && f.Side() == "old" {
			side = e.Before
		}
		side[f.Name] = f.Whole()
	}
	if text := flags.Settings(); text != "" {
		for _, side := range []map[string]string{e.Before, e.Files} {
			if len(side) > 0 {
				side[config.FileName] = text
			}
		}
	}
	return e
}
