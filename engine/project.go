package engine

import (
	"cmp"
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/graph/source"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/lint/choice"
	"github.com/xdslint/xdslint/lint/settings"
	"github.com/xdslint/xdslint/rules"
)

// project is a set of texts, and the configuration that is among them.
type project struct {
	texts    map[string][]byte // without configurations
	settings *settings.Settings
	faults   []*settings.Fault
	others   []string // configurations that do not count
}

func newProject(files map[string]string) *project {
	p := &project{texts: map[string][]byte{}, settings: &settings.Settings{}}
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
		p.settings, p.faults = settings.Understood(&source.File{Name: name, Text: []byte(files[name])}, rules.Known())
		p.others = configurations[1:]
	}
	return p
}

func isSettings(name string) bool { return path.Base(name) == settings.FileName }

// read makes snapshots of the texts, of which some have changed since.
func (p *project) read(ctx context.Context, changed map[string][]byte) (*load.Input, error) {
	assumptions, err := settings.ParseAssumptions(p.settings.Assume, p.settings.Open, p.settings.Closed)
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
	return choice.New(p.settings, rules.Known(), nil, nil, targets)
}

// wanted leaves out of findings what the configuration does not want to hear of.
func (p *project) wanted(result *lint.Result) *lint.Result {
	return choice.Wanted(result, p.settings, rules.Known())
}
