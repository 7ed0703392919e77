package lint

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
)

// Severity is how bad a finding is.
type Severity uint8

// The severities. Error is for what the data plane rejects and for what certainly fails traffic. Anything that can be
// intended is a warning or an info.
const (
	Off Severity = iota // the rule does not run
	Info
	Warning
	Error
)

var severityNames = [...]string{"off", "info", "warning", "error"}

func (s Severity) String() string { return severityNames[s] }

// ParseSeverity reads "info", "warning" or "error".
func ParseSeverity(s string) (Severity, error) {
	for i, name := range severityNames {
		if s == name && Severity(i) != Off {
			return Severity(i), nil
		}
	}
	return 0, fmt.Errorf("invalid severity %q: must be info, warning or error", s)
}

// Rule finds one kind of defect in a configuration. It is data and one function, without state.
type Rule struct {
	Name     string               // states the defect: unknown-cluster
	Group    string               // the folder under rules/; set by Group.Add
	Family   dataplane.Family     // the data planes whose behaviour it knows; empty: that of the group, or all
	Severity Severity             // of its findings, unless a finding sets its own. Off: it runs only in Profiles
	Summary  string               // one line: what it finds
	Why      string               // Markdown, for a rule without an archive: a built-in rule has it there, in why.md
	Links    []string             // Envoy's function, a gRFC, an issue
	Profiles map[Profile]Severity // instead of Severity, for a profile
	// Fragments: the rule also applies to a part of a message (graph.Resource.Fragment), since it judges only fields that are set.
	Fragments bool
	Origin    *Origin // of a custom rule; nil: a built-in rule
	Run       Check
}

// ID returns group/name: the name of a rule in messages, configuration, suppressions and URLs.
func (r *Rule) ID() string { return r.Group + "/" + r.Name }

// Check is the function of a rule: Each, EachNamed, EachMatching, EachResource, EachProblem, EachEdge, EachDangling, ForSnapshot, ForTransition
// and ForOrigin return one. And combines them.
type Check struct {
	applies func(dataplane.Target, protoreflect.MessageDescriptor) bool
	each    func(*Pass, At, proto.Message)
	whole   func(*Pass)
	between func(*Pass, *graph.Changes)
	origin  *originCheck

	resources []resourceCheck
	problems  []problemCheck
	edges     []edgeCheck
}

type resourceCheck struct {
	kinds []graph.Kind
	f     func(*Pass, *graph.Resource)
}

type problemCheck struct {
	kinds []graph.ProblemKind
	f     func(*Pass, *graph.Resource, graph.Problem)
}

type edgeCheck struct {
	kind graph.Kind
	f    func(*Pass, *graph.Edge)
}

// Each returns a check that runs f on every message of a type, wherever it is nested.
func Each[M proto.Message](f func(p *Pass, at At, m M)) Check {
	var zero M
	return Check{applies: isOne(zero.ProtoReflect().Descriptor().FullName()), each: func(p *Pass, at At, m proto.Message) {
		if typed, ok := m.(M); ok {
			f(p, at, typed)
		}
	}}
}

// EachNamed returns a check that runs f on every message of the named types, even if their Go packages are not linked in.
func EachNamed(f func(p *Pass, at At, m protoreflect.Message), names ...protoreflect.FullName) Check {
	return EachMatching(isOne(names...), f)
}

func isOne(names ...protoreflect.FullName) func(dataplane.Target, protoreflect.MessageDescriptor) bool {
	return func(_ dataplane.Target, md protoreflect.MessageDescriptor) bool {
		return slices.Contains(names, md.FullName())
	}
}

// EachMatching returns a check that runs f on every message of the types, including user-defined ones, to which the
// rule applies. A run asks once for each type.
func EachMatching(applies func(t dataplane.Target, md protoreflect.MessageDescriptor) bool, f func(p *Pass, at At, m protoreflect.Message)) Check {
	return Check{applies: applies, each: func(p *Pass, at At, _ proto.Message) { f(p, at, at.Place.Message) }}
}

// EachResource returns a check that runs f on every resource of the kinds, or on every resource if none is named, also on those without a message.
func EachResource(f func(p *Pass, r *graph.Resource), kinds ...graph.Kind) Check {
	return Check{resources: []resourceCheck{{kinds, f}}}
}

// EachProblem returns a check that runs f on every problem of the kinds.
func EachProblem(f func(p *Pass, r *graph.Resource, problem graph.Problem), kinds ...graph.ProblemKind) Check {
	return Check{problems: []problemCheck{{kinds, func(p *Pass, r *graph.Resource, problem graph.Problem) {
		p.proceed()
		f(p, r, problem)
	}}}}
}

// EachEdge returns a check that runs f on every reference to names of a kind.
func EachEdge(kind graph.Kind, f func(p *Pass, e *graph.Edge)) Check {
	return Check{edges: []edgeCheck{{kind, f}}}
}

// EachDangling returns a check that runs f on every reference to a kind whose target is missing, with how certain that is. It leaves out names
// in an open world, and names that the user assumes.
func EachDangling(kind graph.Kind, f func(p *Pass, e *graph.Edge, world graph.World)) Check {
	return EachEdge(kind, func(p *Pass, e *graph.Edge) {
		if e.To != nil || p.Snapshot.Assumes(kind, e.Target) {
			return
		}
		p.proceed()
		if world := p.Snapshot.World(kind, e.Source); world != graph.Open {
			f(p, e, world)
		}
	})
}

// ForSnapshot returns a check that runs f once for a snapshot. A run that reuses judgements calls it again if an answer that it got has changed,
// so a check that looks at each resource or reference by itself is better one of those above.
func ForSnapshot(f func(p *Pass)) Check { return Check{whole: f} }

// And returns a check that does what both do. Only one of them may be Each, EachNamed or EachMatching, and only one ForSnapshot.
func (c Check) And(other Check) Check {
	if c.each != nil && other.each != nil || c.whole != nil && other.whole != nil || c.origin != nil || other.origin != nil {
		panic("lint: the checks cannot be combined")
	}
	c.resources = slices.Concat(c.resources, other.resources)
	c.problems = slices.Concat(c.problems, other.problems)
	c.edges = slices.Concat(c.edges, other.edges)
	if other.each != nil {
		c.applies, c.each = other.applies, other.each
	}
	if other.whole != nil {
		c.whole = other.whole
	}
	if other.between != nil {
		c.between = other.between
	}
	return c
}

// Group is a set of rules whose ids begin with the same name.
type Group struct {
	Name    string
	Summary string
	Family  dataplane.Family // of its rules that do not say it
	rules   []*Rule          // sorted by name
}

// Add adds a rule to the group and returns it.
func (g *Group) Add(r *Rule) *Rule {
	r.Group = g.Name
	if r.Family == "" {
		r.Family = g.Family
	}
	at, _ := slices.BinarySearchFunc(g.rules, r.Name, func(before *Rule, name string) int { return strings.Compare(before.Name, name) })
	g.rules = slices.Insert(g.rules, at, r)
	return r
}

// Rules returns the group's rules, sorted by name.
func (g *Group) Rules() []*Rule { return slices.Clone(g.rules) }

// Match reports whether a selector matches the rule: its id, its group, or a glob over ids such as "reference/*-cluster".
func (r *Rule) Match(selector string) bool {
	if selector == r.Group || selector == r.ID() || selector == "*" {
		return true
	}
	matched, _ := path.Match(selector, r.ID())
	return matched
}
