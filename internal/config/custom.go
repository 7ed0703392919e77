package config

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/graph/decode"
	"github.com/xdslint/xdslint/graph/source"
	"github.com/xdslint/xdslint/lint"
)

// Constraint is a house rule in CEL. It is about messages of a type, or about resources of a kind.
type Constraint struct {
	ID         string   `yaml:"id"`         // GROUP/NAME
	Message    string   `yaml:"message"`    // full name of the messages that are `this`
	Field      string   `yaml:"field"`      // of such a message, which then is `this`
	Snapshot   string   `yaml:"snapshot"`   // kind of the resources that are `this`
	Expression string   `yaml:"expression"` // true or "" where all is well
	Text       string   `yaml:"text"`       // the finding's message; not needed where the expression is a string
	Severity   string   `yaml:"severity"`   // empty: error
	Resource   string   `yaml:"resource"`   // glob over KIND/NAME; empty: all
	Help       string   `yaml:"help"`
	Why        string   `yaml:"why"` // Markdown
	Links      []string `yaml:"links"`

	entry
}

// Plugin names a module with house rules.
type Plugin struct {
	Path   string `yaml:"path"`   // relative to the configuration
	SHA256 string `yaml:"sha256"` // of the module, in hexadecimal digits; empty: whatever it is

	entry
}

// entry is where an element of a list stands in the configuration.
type entry struct {
	file *source.File
	node *decode.Node
}

// At is where the value of a key stands; without one, the entry.
func (e *entry) At(key string) source.Span {
	if value := e.Value(key); value != nil {
		return value.Span()
	}
	return e.node.Span()
}

// Value is what stands under a key; nil if nothing does.
func (e *entry) Value(key string) *decode.Node { return e.node.Get(key) }

// Faultf is a fault at the value of a key.
func (e *entry) Faultf(key, format string, args ...any) *Fault {
	return &Fault{e.file, e.At(key), fmt.Sprintf(format, args...)}
}

// RuleSource makes the house rules of a configuration, whose rules are not built in, and says what is wrong with it.
type RuleSource func(s *Config) (rules []*lint.Rule, faults []*Fault)

// Join is one maker for all; nil ones make nothing.
func Join(all ...RuleSource) RuleSource {
	return func(s *Config) (rules []*lint.Rule, faults []*Fault) {
		for _, each := range all {
			if each != nil {
				made, wrong := each(s)
				rules, faults = append(rules, made...), append(faults, wrong...)
			}
		}
		return rules, faults
	}
}

// place tells the entries where they stand.
func (s *Config) place(d *decoder, root *node) {
	at := func(key string, i int) entry {
		return entry{d.file, &root.Get(key).Items[i]}
	}
	for i := range s.Constraints {
		s.Constraints[i].entry = at("constraints", i)
	}
	for i := range s.Plugins {
		s.Plugins[i].entry = at("plugins", i)
	}
}

// checkPlugins leaves out entries that name no module.
func (s *Config) checkPlugins(d *decoder) {
	s.Plugins = slices.DeleteFunc(s.Plugins, func(p Plugin) bool {
		switch digest, err := hex.DecodeString(p.SHA256); {
		case p.Path == "":
			d.add(p.Faultf("", `a plugin needs a "path"`))
			return true
		case err != nil || p.SHA256 != "" && len(digest) != 32:
			d.add(p.Faultf("sha256", "%q is no SHA-256: it has 64 hexadecimal digits, as sha256sum prints them", p.SHA256))
			return true
		}
		return false
	})
}

var ruleID = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*/[a-z0-9]+(-[a-z0-9]+)*$`)

// ParseID splits the id of a house rule. It must not be in a group of the built-in rules, so that nobody takes it for one of those.
func ParseID(id string, builtIn []*lint.Rule) (group, name string, err error) {
	group, name, _ = strings.Cut(id, "/")
	switch {
	case id == "":
		return "", "", fmt.Errorf(`a rule needs an "id", such as acme/cluster-name`)
	case !ruleID.MatchString(id):
		return "", "", fmt.Errorf("the id %q is not GROUP/NAME in lower-case letters, digits and hyphens, such as acme/cluster-name", id)
	case slices.ContainsFunc(builtIn, func(r *lint.Rule) bool { return r.Group == group }):
		return "", "", fmt.Errorf("the id %q is in a group of xdslint's own rules; take another group, such as that of your team", id)
	}
	return group, name, nil
}

// make makes the house rules. One with the id of an earlier one is left out.
func (s *Config) make(d *decoder, house RuleSource) {
	if house == nil {
		return
	}
	made, faults := house(s)
	d.add(faults...)
	seen := map[string]*lint.Rule{}
	for _, r := range made {
		if first := seen[r.ID()]; first != nil {
			d.add(&Fault{r.Origin.File, r.Origin.Span, fmt.Sprintf("%s: another rule has the id %s, in %s", r.Origin.Name, r.ID(), first.Origin.Place())})
			continue
		}
		seen[r.ID()] = r
		s.Custom = append(s.Custom, r)
	}
}

// File is the configuration.
func (e *entry) File() *source.File { return e.file }
