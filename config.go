package xdslint

import (
	"github.com/xdslint/xdslint/internal/baseline"
	"github.com/xdslint/xdslint/internal/config"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules"
)

type (
	// Config is what a .xdslint.yaml says. Its Custom are the rules that it brings along.
	Config = config.Config
	// RuleSource makes the rules of a configuration that are not built in. custom.Constraints makes one for rules in CEL, CustomRules one of rules
	// that there are already, such as those of a plugin.
	RuleSource = config.RuleSource
	// Baseline is a set of findings that are known, and not shown again.
	Baseline = baseline.Baseline
)

// ConfigName is the name of a configuration file.
const ConfigName = config.FileName

// FindConfig looks for a configuration in a folder, then in those above it, to the root of the repository at most. It is empty where there is none.
func FindConfig(dir string) string { return config.Find(dir, ConfigName) }

// ReadConfig reads a configuration; an empty path stands for one that says nothing. Without a source for them, its constraints and plugins are not judged.
func ReadConfig(path string, custom ...RuleSource) (*Config, error) {
	if path == "" {
		return config.None(config.Join(custom...))
	}
	return config.Read(path, path, rules.Known(), config.Join(custom...))
}

// ParseConfig is ReadConfig for a text; name is its name in errors and findings.
func ParseConfig(name string, text []byte, custom ...RuleSource) (*Config, error) {
	return config.Parse(&source.File{Name: name, Text: text}, rules.Known(), config.Join(custom...))
}

// CustomRules is the source of rules that there are already.
func CustomRules(all ...*lint.Rule) RuleSource {
	return func(*Config) ([]*lint.Rule, []*config.Fault) { return all, nil }
}

// ReadBaseline reads a baseline that `xdslint baseline write` or Report.Baseline made.
func ReadBaseline(path string) (*Baseline, error) { return baseline.Read(path, path) }
