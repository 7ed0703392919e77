// Package lint runs rules over snapshots of xDS resources and collects what they find.
package lint

import (
	"fmt"
	"path"
	"slices"
	"sort"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
)

// Severity is how bad a finding is.
type Severity uint8

// The severities. Error is for what the data plane refuses or what is certain to fail for traffic; everything that can be
// meant is a warning or an info.
const (
	Info Severity = iota + 1
	Warning
	Error
)

var severityNames = [...]string{"", "info", "warning", "error"}

func (s Severity) String() string { return severityNames[s] }

// ParseSeverity reads "info", "warning" or "error".
func ParseSeverity(s string) (Severity, error) {
	for i, name := range severityNames {
		if s == name && i > 0 {
			return Severity(i), nil
		}
	}
	return 0, fmt.Errorf("%q is no severity: info, warning, error", s)
}

// Rule is one thing that can be wrong with a configuration: data and one function, without state.
type Rule struct {
	Name     string   // states the defect: unknown-cluster
	Group    string   // the folder under rules/; set by Group.Add
	Severity Severity // of its findings, where the finding says nothing else
	Summary  string   // one line: what it finds
	Why      string   // Markdown, of a rule without an archive: a built-in one has it there, in why.md
	Links    []string // Envoy's function, a gRFC, an issue
	// Fragments: it also holds for a part of a message (graph.Resource.Fragment), since it judges what is there and never what is absent.
	Fragments bool
	Origin    *Origin // of a custom rule; nil: built in
	Run       Check
}

// ID is group/name: the one name of a rule in messages, configuration, suppressions and addresses.
func (r *Rule) ID() string { return r.Group + "/" + r.Name }

// Check is what a rule does: made by Each, EachNamed, EachMatching, ForSnapshot, ForTransition or ForOrigin.
type Check struct {
	applies func(dataplane.Target, protoreflect.MessageDescriptor) bool
	each    func(*Pass, At, protoreflect.Message)
	whole   func(*Pass)
	between func(*Pass, *graph.Changes)
	origin  *originCheck
}

// Each runs f for every message of a type, wherever it is nested.
func Each[M proto.Message](f func(p *Pass, at At, m M)) Check {
	var zero M
	return EachNamed(func(p *Pass, at At, m protoreflect.Message) {
		if typed, ok := m.Interface().(M); ok {
			f(p, at, typed)
		}
	}, zero.ProtoReflect().Descriptor().FullName())
}

// EachNamed runs f for every message of some types, also of those whose Go packages are not linked in.
func EachNamed(f func(p *Pass, at At, m protoreflect.Message), names ...protoreflect.FullName) Check {
	return EachMatching(func(_ dataplane.Target, md protoreflect.MessageDescriptor) bool {
		return slices.Contains(names, md.FullName())
	}, f)
}

// EachMatching runs f for every message of the types, user-defined ones too, to which the rule applies. A run asks once for each
// type.
func EachMatching(applies func(t dataplane.Target, md protoreflect.MessageDescriptor) bool, f func(p *Pass, at At, m protoreflect.Message)) Check {
	return Check{applies: applies, each: f}
}

// ForSnapshot runs f once for a snapshot.
func ForSnapshot(f func(p *Pass)) Check { return Check{whole: f} }

// And adds what f finds in the snapshot as a whole to what the check finds in single messages.
func (c Check) And(f func(p *Pass)) Check {
	c.whole = f
	return c
}

// Group is a set of rules that share the first half of their ids.
type Group struct {
	Name    string
	Summary string
	rules   []*Rule
}

// Add puts a rule into the group and returns it.
func (g *Group) Add(r *Rule) *Rule {
	r.Group = g.Name
	g.rules = append(g.rules, r)
	return r
}

// Rules lists the group's rules by name.
func (g *Group) Rules() []*Rule {
	sorted := append([]*Rule(nil), g.rules...)
	sort.Slice(sorted, func(i, j int) bool { return sorted[i].Name < sorted[j].Name })
	return sorted
}

// Match tells whether a selector means the rule: its id, its group, or a glob over ids such as "reference/*-cluster".
func (r *Rule) Match(selector string) bool {
	if selector == r.Group || selector == r.ID() || selector == "*" {
		return true
	}
	matched, _ := path.Match(selector, r.ID())
	return matched
}
