package playground

import (
	"cmp"
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/config"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/lint/choice"
	"github.com/xdslint/xdslint/rules"
)

// project is a set of texts, and the configuration that is among them.
type project struct {
	texts    map[string][]byte // without configurations
	settings *config.Settings
	faults   []*config.Fault
	others   []string // configurations that do not count
	needs    string   // what this engine lacks to judge all of it
	standIns []*lint.Rule
}

// project reads the configuration among texts of the request.
func (q *request) project(files map[string]string) *project {
	p := &project{texts: map[string][]byte{}, settings: &config.Settings{}}
	constraints := q.custom
	if constraints == nil {
		constraints = p.unjudged
	}
	var configurations []string
	for name, text := range files {
		if isSettings(name) {
			configurations = append(configurations, name)
		} else {
			p.texts[name] = []byte(text)
		}
	}
	if len(configurations) > 0 {
		// The one that is nearest to the root is for all.
		slices.SortFunc(configurations, func(a, b string) int {
			return cmp.Or(strings.Count(a, "/")-strings.Count(b, "/"), cmp.Compare(a, b))
		})
		name := configurations[0]
		p.settings, p.faults = config.Understood(&source.File{Name: name, Text: []byte(files[name])}, rules.Known(), config.Join(constraints, p.noPlugins))
		p.others = configurations[1:]
	}
	if q.custom == nil && len(p.settings.Constraints) > 0 {
		p.needs = "constraints"
	}
	return p
}

// unjudged makes rules with the names of constraints.
func (p *project) unjudged(s *config.Settings) (named []*lint.Rule, none []*config.Fault) {
	for i := range s.Constraints {
		named = append(named, p.standIn(s.Constraints[i].ID, s)...)
	}
	return named, nil
}

// noPlugins says that plugins are not for an engine, which has no files, and makes rules with the names that the configuration has for theirs.
func (p *project) noPlugins(s *config.Settings) (named []*lint.Rule, faults []*config.Fault) {
	for i := range s.Plugins {
		faults = append(faults, s.Plugins[i].Faultf("path", "plugins do not run here; the command xdslint runs them"))
	}
	if len(faults) == 0 {
		return nil, nil
	}
	names := slices.Sorted(maps.Keys(s.Severities))
	for i := range s.Ignores {
		names = append(names, s.Ignores[i].Rule)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		isConstraint := func(c config.Constraint) bool { return c.ID == name }
		if !slices.ContainsFunc(s.Constraints, isConstraint) {
			named = append(named, p.standIn(name, s)...)
		}
	}
	return named, faults
}

// standIn is a rule that cannot judge: with its name, the rest of a configuration is understood.
func (p *project) standIn(id string, s *config.Settings) []*lint.Rule {
	group, name, err := config.ParseID(id, rules.Known())
	if err != nil {
		return nil
	}
	r := &lint.Rule{Group: group, Name: name, Severity: lint.Error, Origin: &lint.Origin{Name: "rule " + id, File: s.File}}
	p.standIns = append(p.standIns, r)
	return []*lint.Rule{r}
}

// known are all rules that can be named: built-in ones, and those of the configuration.
func (p *project) known() []*lint.Rule { return append(rules.Known(), p.settings.Custom...) }

func isSettings(name string) bool { return path.Base(name) == config.FileName }

// read makes snapshots of the texts, of which some have changed since.
func (p *project) read(ctx context.Context, changed map[string][]byte) (*load.Input, error) {
	assumptions, err := config.ParseAssumptions(p.settings.Assume, p.settings.Open, p.settings.Closed)
	if err != nil {
		return nil, err
	}
	texts := p.texts
	if len(changed) > 0 {
		texts = maps.Clone(texts)
		maps.Copy(texts, changed)
	}
	return load.Given(ctx, texts, load.Options{Assumptions: assumptions})
}

// choose settles which rules run, for the targets of a request or else for those of the configuration.
func (p *project) choose(targets []string) (*choice.Choice, error) {
	c, err := choice.New(p.settings, p.known(), nil, nil, targets)
	if err != nil {
		return nil, err
	}
	c.Rules = slices.DeleteFunc(c.Rules, func(r *lint.Rule) bool { return slices.Contains(p.standIns, r) })
	return c, nil
}

// wanted leaves out of findings what the configuration does not want to hear of.
func (p *project) wanted(result *lint.Result) *lint.Result {
	return choice.Wanted(result, p.settings, p.known())
}
