package config

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/nearest"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/strict"
	"github.com/xdslint/xdslint/internal/suppress"
	"github.com/xdslint/xdslint/internal/tree"
	"github.com/xdslint/xdslint/lint"
)

// Fault is an error in a configuration.
type Fault = strict.Fault

// FileName is the name of a configuration file.
const FileName = ".xdslint.yaml"

// Config is the content of a configuration. docs/xdslint.schema.json describes the same.
type Config struct {
	Paths         []string            `yaml:"paths"`           // to lint if the command line names none; relative to the file
	Targets       []string            `yaml:"targets"`         // such as envoy:1.40
	TargetsByPath map[string][]string `yaml:"targets-by-path"` // instead of Targets, by file, folder or glob; relative to the file
	Profile       string              `yaml:"profile"`         // edge, mesh or internal
	Now           string              `yaml:"now"`             // the date that certificates are judged for; empty: see Clock
	ExpiryDays    string              `yaml:"expiry-days"`     // how early a certificate is reported that is going to expire
	FailOn        string              `yaml:"fail-on"`         // error, warning, info or never
	Severities    map[string]string   `yaml:"severities"`      // error, warning, info or off, by rule, group or glob
	Ignores       []suppress.Ignore   `yaml:"ignores"`
	Assume        []string            `yaml:"assume"` // KIND:GLOB: names that exist elsewhere
	Open          []string            `yaml:"open"`   // kinds that may exist outside the input
	Closed        []string            `yaml:"closed"` // kinds that are complete in the input

	Require *tree.Node `yaml:"require"` // a policy of xdslint posture, or a list of those

	Constraints []Constraint `yaml:"constraints"` // custom rules in CEL
	Plugins     []Plugin     `yaml:"plugins"`     // custom rules in modules

	File   *source.File `yaml:"-"`
	Custom []*lint.Rule `yaml:"-"` // of the constraints and plugins
}

// Find looks for a file in a folder and above, up to the root of the repository. It returns an empty path if there is none.
func Find(dir, name string) string {
	for {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			return file
		}
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return ""
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

// Read reads and checks a configuration against the built-in rules, and adds its custom rules; name is its name in errors, which have lines.
func Read(file, name string, builtIn []*lint.Rule, custom RuleSource) (*Config, error) {
	text, err := source.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return Parse(&source.File{Name: name, Text: text}, builtIn, custom)
}

// Parse is like Read, for a text.
func Parse(f *source.File, builtIn []*lint.Rule, custom RuleSource) (*Config, error) {
	s, faults := ParseLenient(f, builtIn, custom)
	return s, strict.Join(faults)
}

// InputPaths returns the paths that the configuration names, relative to the working directory.
func (s *Config) InputPaths() []string {
	paths := make([]string, len(s.Paths))
	for i, p := range s.Paths {
		if paths[i] = p; !filepath.IsAbs(p) {
			paths[i] = filepath.Join(filepath.Dir(s.File.Name), p)
		}
	}
	return paths
}

// Policies returns what is under "require", one node for each policy.
func (s *Config) Policies() []tree.Node {
	switch {
	case s.Require == nil || s.Require.Kind == tree.Null:
		return nil
	case s.Require.Kind == tree.List:
		return s.Require.Items
	}
	return []tree.Node{*s.Require}
}

// None returns the configuration without a file; custom rules may come from elsewhere.
func None(custom RuleSource) (*Config, error) {
	s, d := &Config{}, &strict.Reader{}
	s.addCustom(d, custom)
	return s, d.Err()
}

// ParseLenient reads the valid parts of a text, and returns the faults of the others.
func ParseLenient(f *source.File, builtIn []*lint.Rule, custom RuleSource) (*Config, []*Fault) {
	s := &Config{File: f}
	d := &strict.Reader{File: f}
	root := &node{d.Document()}
	if root.Node != nil {
		d.Decode(root.Node, s)
		s.place(d, root)
		s.checkPlugins(d)
	}
	s.addCustom(d, custom)
	if root.Node != nil {
		s.check(d, root, append(builtIn[:len(builtIn):len(builtIn)], s.Custom...))
	}
	d.Sort()
	return s, d.Faults
}

// check validates the values, and drops invalid ones.
func (s *Config) check(d *strict.Reader, root *node, rules []*lint.Rule) {
	isKind := func(name string) error { _, err := ParseKind(name); return err }
	s.Targets = checked(d, root, "targets", s.Targets, isTarget)
	s.checkTargetsByPath(d, &node{root.Get("targets-by-path")})
	s.Assume = checked(d, root, "assume", s.Assume, func(assumed string) error { _, err := parseAssumed(assumed); return err })
	s.Open, s.Closed = checked(d, root, "open", s.Open, isKind), checked(d, root, "closed", s.Closed, isKind)
	if s.FailOn != "" {
		if _, err := ParseFailOn(s.FailOn); err != nil {
			d.Errorf(root.at("fail-on", -1), "%s", err)
			s.FailOn = ""
		}
	}
	if _, err := lint.ParseProfile(s.Profile); err != nil {
		d.Errorf(root.at("profile", -1), "%s", err)
		s.Profile = ""
	}
	if _, err := ParseDate(s.Now); err != nil {
		d.Errorf(root.at("now", -1), "now: %s", err)
		s.Now = ""
	}
	if _, err := parseDays(s.ExpiryDays); err != nil {
		d.Errorf(root.at("expiry-days", -1), "expiry-days: %s", err)
		s.ExpiryDays = ""
	}
	for _, selector := range slices.Sorted(maps.Keys(s.Severities)) {
		s.checkSeverity(d, root, selector, rules)
	}
	for _, n := range s.Policies() {
		if n.Kind != tree.String {
			d.Errorf(n.Span(), "require: got %s, want a policy, such as ext_authz on pay.*/**", n.Kind)
		}
	}
	for i := range s.Ignores {
		s.checkIgnore(d, root.at("ignores", i), &s.Ignores[i], rules)
	}
}

// checked returns the valid values of a key's list.
func checked(d *strict.Reader, n *node, key string, values []string, check func(string) error) (good []string) {
	for i, value := range values {
		if err := check(value); err != nil {
			d.Errorf(n.at(key, i), "%s", err)
		} else {
			good = append(good, value)
		}
	}
	return good
}

func (s *Config) checkSeverity(d *strict.Reader, root *node, selector string, rules []*lint.Rule) {
	level := s.Severities[selector]
	if err := CheckSelector(selector, rules); err != nil {
		d.Errorf(root.key("severities", selector), "%s", err)
	}
	if level == Off {
		return
	}
	if _, err := lint.ParseSeverity(level); err != nil {
		d.Errorf(root.entry("severities", selector), "invalid severity %q: must be error, warning, info or off", level)
		delete(s.Severities, selector)
	}
}

func (s *Config) checkIgnore(d *strict.Reader, at source.Span, ignore *suppress.Ignore, rules []*lint.Rule) {
	ignore.Span = at
	if ignore.Rule == "" {
		d.Errorf(at, `an ignore needs a "rule"; "*" means all rules`)
	} else if err := CheckSelector(ignore.Rule, rules); err != nil {
		d.Errorf(at, "%s", err)
	}
	if strings.TrimSpace(ignore.Reason) == "" {
		d.Errorf(at, `an ignore needs a "reason"`)
	}
	if err := CheckResource(ignore.Resource); err != nil {
		d.Errorf(at, "%s", err)
	}
}

// CheckResource checks a glob over KIND/NAME; empty means all.
func CheckResource(glob string) error {
	kind, _, named := strings.Cut(glob, "/")
	wild := strings.IndexAny(kind, "*?")
	fits := func(k graph.Kind) bool {
		return string(k) == kind && named || wild >= 0 && strings.HasPrefix(string(k), kind[:wild])
	}
	if glob == "" || slices.ContainsFunc(append(graph.Kinds(), graph.File), fits) {
		return nil
	}
	return fmt.Errorf("resource %q is not KIND/NAME, such as cluster/backend-*", glob)
}

// Off is the severity of a rule that does not run.
const Off = "off"

// Severity returns the configured severity of a rule. The most specific selector wins: an id before a glob before a group before
// "*". It is empty if no selector matches.
func (s *Config) Severity(r *lint.Rule) string {
	if level := s.Severities[r.ID()]; level != "" {
		return level
	}
	best, level := "", ""
	for _, selector := range slices.Sorted(maps.Keys(s.Severities)) {
		if strings.Contains(selector, "/") && r.Match(selector) && len(selector) > len(best) {
			best, level = selector, s.Severities[selector]
		}
	}
	for _, selector := range []string{r.Group, "*"} {
		if level == "" {
			level = s.Severities[selector]
		}
	}
	return level
}

// CheckSelector returns an error if a selector matches no rule.
func CheckSelector(selector string, rules []*lint.Rule) error {
	var names []string
	for _, r := range rules {
		if r.Match(selector) {
			return nil
		}
		names = append(names, r.ID(), r.Group)
	}
	return fmt.Errorf("no rule or group is named %q%s", selector, nearest.DidYouMean(selector, names))
}

// ParseFailOn reads the lowest severity that fails a run; 0 is "never".
func ParseFailOn(s string) (lint.Severity, error) {
	if s == "never" {
		return 0, nil
	}
	severity, err := lint.ParseSeverity(s)
	if err != nil {
		return 0, fmt.Errorf("invalid severity %q: must be error, warning, info or never", s)
	}
	return severity, nil
}

// ParseKind reads the name of a kind.
func ParseKind(s string) (graph.Kind, error) {
	var names []string
	for _, k := range graph.Kinds() {
		if string(k) == s {
			return k, nil
		}
		names = append(names, string(k))
	}
	near := nearest.DidYouMean(s, names)
	if near == "" {
		near = ": " + strings.Join(names, ", ")
	}
	return "", fmt.Errorf("no kind is named %q%s", s, near)
}

// parseAssumed reads KIND:GLOB.
func parseAssumed(s string) (graph.Assumed, error) {
	name, glob, ok := strings.Cut(s, ":")
	if !ok || glob == "" {
		return graph.Assumed{}, fmt.Errorf("%q is not KIND:GLOB, such as cluster:backend-*", s)
	}
	kind, err := ParseKind(name)
	if err != nil {
		return graph.Assumed{}, err
	}
	if _, err := path.Match(glob, ""); err != nil {
		return graph.Assumed{}, fmt.Errorf("invalid glob %q: unclosed [ or trailing \\", glob)
	}
	return graph.Assumed{Kind: kind, Glob: glob}, nil
}

// ParseAssumptions reads what is known to exist besides the input.
func ParseAssumptions(assume, open, closed []string) (all graph.Assumptions, err error) {
	for _, text := range assume {
		assumed, err := parseAssumed(text)
		if err != nil {
			return all, fmt.Errorf("assume: %w", err)
		}
		all.Names = append(all.Names, assumed)
	}
	if all.Open, err = parseKinds(open); err != nil {
		return all, fmt.Errorf("open: %w", err)
	}
	if all.Closed, err = parseKinds(closed); err != nil {
		return all, fmt.Errorf("closed: %w", err)
	}
	return all, nil
}

func parseKinds(names []string) (all []graph.Kind, err error) {
	for _, name := range names {
		kind, err := ParseKind(name)
		if err != nil {
			return nil, err
		}
		all = append(all, kind)
	}
	return all, nil
}
