package xdslint

import (
	"github.com/xdslint/xdslint/internal/baseline"
	"github.com/xdslint/xdslint/internal/config"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/lint"
)

type (
	// Config is the content of a .xdslint.yaml. Its field Custom has the custom rules.
	Config = config.Config
	// RuleSource creates the custom rules of a configuration. custom.Constraints returns one for rules in CEL, CustomRules one of rules
	// that already exist, such as those of a plugin.
	RuleSource = config.RuleSource
	// Baseline is a set of known findings, which are not reported.
	Baseline = baseline.Baseline
)

// ConfigName is the name of a configuration file.
const ConfigName = config.FileName

// FindConfig looks for a configuration in a folder and above, up to the root of the repository. It returns "" if there is none.
func FindConfig(dir string) string { return config.Find(dir, ConfigName) }

// ReadConfig reads a configuration; an empty path stands for an empty one. Constraints and plugins without a source are not run.
func ReadConfig(path string, custom ...RuleSource) (*Config, error) {
	if path == "" {
		return config.None(config.Join(custom...))
	}
	return config.Read(path, path, nameable(), config.Join(custom...))
}

// ParseConfig parses the text of a configuration, as ReadConfig does for a file. Errors and findings contain the name.
func ParseConfig(name string, text []byte, custom ...RuleSource) (*Config, error) {
	return config.Parse(&source.File{Name: name, Text: text}, nameable(), config.Join(custom...))
}

// CustomRules returns a source of existing rules.
func CustomRules(all ...*lint.Rule) RuleSource {
	return func(*Config) ([]*lint.Rule, []*config.Fault) { return all, nil }
}

// ReadBaseline reads a baseline that `xdslint baseline write` or Report.Baseline made.
func ReadBaseline(path string) (*Baseline, error) { return baseline.Read(path, path) }
