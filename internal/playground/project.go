package playground

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/internal/config"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules"
)

// project is a set of texts, and the configuration among them.
type project struct {
	texts    map[string][]byte // without configurations
	settings *config.Config
	faults   []*config.Fault
	others   []string // configurations that do not count
	needs    string   // what this engine lacks to judge all of it
	standIns []*lint.Rule
}

// project reads the configuration among texts of the request.
func (q *request) project(files map[string]string) *project {
	p := &project{texts: map[string][]byte{}, settings: &config.Config{}}
	constraints := q.engine.Custom
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
		p.settings, p.faults = config.ParseLenient(&source.File{Name: name, Text: []byte(files[name])}, rules.All(), config.Join(constraints, p.noPlugins))
		p.others = configurations[1:]
	}
	if q.engine.Custom == nil && len(p.settings.Constraints) > 0 {
		p.needs = "constraints"
	}
	return p
}

// unjudged makes rules with the names of constraints.
func (p *project) unjudged(s *config.Config) (named []*lint.Rule, none []*config.Fault) {
	for i := range s.Constraints {
		named = append(named, p.standIn(s.Constraints[i].ID, s)...)
	}
	return named, nil
}

// noPlugins says that plugins are not for an engine, which has no files, and makes rules with the names that the configuration has for theirs.
func (p *project) noPlugins(s *config.Config) (named []*lint.Rule, faults []*config.Fault) {
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

// standIn returns a rule that never finds anything. It makes the names of rules known that cannot run here.
func (p *project) standIn(id string, s *config.Config) []*lint.Rule {
	group, name, err := config.ParseID(id, rules.All())
	if err != nil {
		return nil
	}
	r := &lint.Rule{Group: group, Name: name, Severity: lint.Error, Origin: &lint.Origin{Name: "rule " + id, File: s.File}}
	p.standIns = append(p.standIns, r)
	return []*lint.Rule{r}
}

func isSettings(name string) bool { return path.Base(name) == config.FileName }

// linter judges for the targets of a request, or else for those of the configuration.
func (p *project) linter(targets []string) (*xdslint.Linter, error) {
	ids := make([]string, len(p.standIns))
	for i, r := range p.standIns {
		ids[i] = r.ID()
	}
	return xdslint.New(xdslint.Options{Config: p.settings, Targets: targets, Ignore: ids})
}

// input returns the input with all texts.
func (p *project) input() xdslint.Input { return xdslint.Texts(p.texts).Whole() }
