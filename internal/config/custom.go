package config

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/strict"
	"github.com/xdslint/xdslint/internal/tree"
	"github.com/xdslint/xdslint/lint"
)

// Constraint is a custom rule in CEL. It is about messages of a type, or about resources of a kind.
type Constraint struct {
	ID         string   `yaml:"id"`         // GROUP/NAME
	Message    string   `yaml:"message"`    // full name of the type of `this`
	Field      string   `yaml:"field"`      // of the message; `this` is then its value
	Snapshot   string   `yaml:"snapshot"`   // instead of Message: `this` is each resource of this kind
	Expression string   `yaml:"expression"` // true or "" if there is no finding
	Text       string   `yaml:"text"`       // the finding's message; not needed if the expression is a string
	Severity   string   `yaml:"severity"`   // empty: error
	Resource   string   `yaml:"resource"`   // glob over KIND/NAME; empty: all
	Help       string   `yaml:"help"`
	Why        string   `yaml:"why"` // Markdown
	Links      []string `yaml:"links"`

	entry
}

// Plugin names a module with custom rules.
type Plugin struct {
	Path   string `yaml:"path"`   // relative to the configuration
	SHA256 string `yaml:"sha256"` // of the module, in hexadecimal digits; empty: not checked

	entry
}

// entry is the place of a list element in the configuration.
type entry struct {
	file *source.File
	node *tree.Node
}

// At returns the span of the value of a key, or of the entry if the key is missing.
func (e *entry) At(key string) source.Span {
	if value := e.Value(key); value != nil {
		return value.Span()
	}
	return e.node.Span()
}

// Value returns the value of a key, nil if it is missing.
func (e *entry) Value(key string) *tree.Node { return e.node.Get(key) }

// Faultf returns a fault at the value of a key.
func (e *entry) Faultf(key, format string, args ...any) *Fault {
	return &Fault{File: e.file, Span: e.At(key), Message: fmt.Sprintf(format, args...)}
}

// RuleSource creates the custom rules of a configuration, and returns their faults.
type RuleSource func(s *Config) (rules []*lint.Rule, faults []*Fault)

// Join combines several sources; they may be nil.
func Join(sources ...RuleSource) RuleSource {
	return func(s *Config) (rules []*lint.Rule, faults []*Fault) {
		for _, source := range sources {
			if source != nil {
				more, wrong := source(s)
				rules, faults = append(rules, more...), append(faults, wrong...)
			}
		}
		return rules, faults
	}
}

// place records where the entries are.
func (s *Config) place(d *strict.Reader, root *node) {
	at := func(key string, i int) entry {
		return entry{d.File, &root.Get(key).Items[i]}
	}
	for i := range s.Constraints {
		s.Constraints[i].entry = at("constraints", i)
	}
	for i := range s.Plugins {
		s.Plugins[i].entry = at("plugins", i)
	}
}

// checkPlugins drops entries that do not name a module.
func (s *Config) checkPlugins(d *strict.Reader) {
	s.Plugins = slices.DeleteFunc(s.Plugins, func(p Plugin) bool {
		switch digest, err := hex.DecodeString(p.SHA256); {
		case p.Path == "":
			d.Faults = append(d.Faults, p.Faultf("", `a plugin needs a "path"`))
			return true
		case err != nil || p.SHA256 != "" && len(digest) != 32:
			d.Faults = append(d.Faults, p.Faultf("sha256", "%q is not a SHA-256: it needs 64 hexadecimal digits, as sha256sum prints them", p.SHA256))
			return true
		}
		return false
	})
}

var ruleID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*/[a-z0-9]+(-[a-z0-9]+)*$`) })

// ParseID splits the id of a custom rule. It must not be in a group of the built-in rules, so that it is not mistaken for one.
func ParseID(id string, builtIn []*lint.Rule) (group, name string, err error) {
	group, name, _ = strings.Cut(id, "/")
	switch {
	case id == "":
		return "", "", fmt.Errorf(`a rule needs an "id", such as acme/cluster-name`)
	case !ruleID().MatchString(id):
		return "", "", fmt.Errorf("the id %q is not GROUP/NAME in lower-case letters, digits and hyphens, such as acme/cluster-name", id)
	case slices.ContainsFunc(builtIn, func(r *lint.Rule) bool { return r.Group == group }):
		return "", "", fmt.Errorf("the id %q is in a group of built-in rules; use another group, such as the name of your team", id)
	}
	return group, name, nil
}

// addCustom adds the custom rules. One with the id of an earlier one is dropped.
func (s *Config) addCustom(d *strict.Reader, source RuleSource) {
	if source == nil {
		return
	}
	rules, faults := source(s)
	d.Faults = append(d.Faults, faults...)
	seen := map[string]*lint.Rule{}
	for _, r := range rules {
		if first := seen[r.ID()]; first != nil {
			message := fmt.Sprintf("%s: another rule has the id %s, in %s", r.Origin.Name, r.ID(), first.Origin.Place())
			d.Faults = append(d.Faults, &Fault{File: r.Origin.File, Span: r.Origin.Span, Message: message})
			continue
		}
		seen[r.ID()] = r
		s.Custom = append(s.Custom, r)
	}
}

// File is the configuration.
func (e *entry) File() *source.File { return e.file }
