package custom

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/config"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/decode/types"
	"github.com/xdslint/xdslint/internal/suppress"
	"github.com/xdslint/xdslint/internal/tree"
	"github.com/xdslint/xdslint/internal/words"
	"github.com/xdslint/xdslint/lint"
)

// Constraints returns a source that makes a rule of each constraint. Ids cannot use the groups of the built-in rules. Constraints are about messages of
// the known types; nil means those of Envoy's API.
func Constraints(builtIn []*lint.Rule, known graph.Types) config.RuleSource {
	if known == nil {
		known = types.Envoy
	}
	language := sync.OnceValue(func() *language { return newLanguage(known) })
	return func(s *config.Config) (rules []*lint.Rule, faults []*config.Fault) {
		for i := range s.Constraints {
			m := &maker{Constraint: &s.Constraints[i], language: language(), budget: shared(len(s.Constraints))}
			if rule := m.rule(builtIn, s); len(m.faults) == 0 {
				rules = append(rules, rule)
			}
			faults = append(faults, m.faults...)
		}
		return rules, faults
	}
}

// maker makes the rule of one constraint.
type maker struct {
	*config.Constraint
	language *language
	budget   budget
	faults   []*config.Fault
}

// faultf adds a fault at the value of a key.
func (m *maker) faultf(key, format string, args ...any) {
	fault := m.Faultf(key, format, args...)
	if m.ID != "" {
		fault.Message = fmt.Sprintf("constraint %s: %s", words.Line(m.ID), fault.Message)
	}
	m.faults = append(m.faults, fault)
}

func (m *maker) rule(builtIn []*lint.Rule, s *config.Config) *lint.Rule {
	r := &lint.Rule{Severity: lint.Error, Summary: m.summary(), Why: m.why(), Links: m.links()}
	var err error
	if r.Group, r.Name, err = config.ParseID(m.ID, builtIn); err != nil {
		m.faultf("id", "%s", err)
	}
	r.Origin = &lint.Origin{Name: "constraint " + m.ID, File: s.File, Span: m.At("expression")}
	if lines := m.lines(); lines != nil {
		first, _, _ := strings.Cut(m.Expression, "\n")
		r.Origin.Span = lines.Span(graph.Span{End: len(first)})
	}
	if m.Severity != "" {
		if r.Severity, err = lint.ParseSeverity(m.Severity); err != nil {
			m.faultf("severity", "%s", err)
		}
	}
	if err := config.CheckResource(m.Resource); err != nil {
		m.faultf("resource", "%s", err)
	}
	switch {
	case wrongKind(m.Value("expression")): // which has been reported already
	case strings.TrimSpace(m.Expression) == "":
		m.faultf("", `the "expression" is missing: it is true where all is well`)
	case (m.Message == "") == (m.Snapshot == ""):
		m.faultf("", `it needs either "message", the type of the messages to judge, or "snapshot", the kind of the resources`)
	case m.Message != "":
		r.Run = m.overMessages()
	default:
		r.Run = m.overResources()
	}
	return r
}

// wrongKind reports whether a value cannot be read as a text.
func wrongKind(n *graph.TextNode) bool {
	return n != nil && (n.Kind == tree.Bool || n.Kind == tree.List || n.Kind == tree.Map)
}

// summary describes the rule in one line.
func (m *maker) summary() string {
	summary, _, _ := strings.Cut(strings.TrimSpace(words.Printable(m.Text)), "\n")
	if summary == "" {
		summary = "its expression says what is wrong"
	}
	return strings.TrimSuffix(summary, ".")
}

// why returns the explanation of the rule in Markdown. It ends with the expression.
func (m *maker) why() string {
	of := fmt.Sprintf("each `%s`", m.Message)
	switch {
	case m.Snapshot != "":
		of = fmt.Sprintf("each %s", m.Snapshot)
	case m.Field != "":
		of = fmt.Sprintf("`%s` in each `%s`", m.Field, m.Message)
	}
	if m.Resource != "" {
		of += fmt.Sprintf(", in `%s`", m.Resource)
	}
	why := fmt.Sprintf("%s\n\nThis must hold for %s:\n\n```\n%s\n```", strings.TrimSpace(m.Why), of, strings.TrimSpace(m.Expression))
	return strings.TrimSpace(words.Printable(why))
}

func (m *maker) links() (links []string) {
	for _, link := range m.Links {
		links = append(links, words.Line(link))
	}
	return links
}

// overMessages checks every message of a type, or one of its fields.
func (m *maker) overMessages() (none lint.Check) {
	name := protoreflect.FullName(m.Message)
	md := m.language.types.message(name)
	if md == nil {
		m.faultf("message", "no message is named %q%s", m.Message, m.language.types.nearestMessage(name))
		return none
	}
	if decode.HasOwnJSON(name) && name != "google.protobuf.Any" {
		m.faultf("message", "a %s is a value, which is not judged by itself: name the message that contains it, and the field", name)
		return none
	}
	this := objectType(md.FullName())
	var field protoreflect.FieldDescriptor
	if m.Field != "" {
		field = md.Fields().ByName(protoreflect.Name(m.Field))
		switch {
		case strings.ContainsAny(m.Field, ".["):
			m.faultf("field", "it must be a field of the message itself, not a path: name the message that has the field")
			return none
		case field == nil:
			m.faultf("field", "%s", noField(string(md.FullName()), m.Field, fieldNames(md)))
			return none
		}
		this = m.language.types.fieldType(field)
	}
	program := m.compile(this, string(md.ParentFile().Package()))
	if program == nil {
		return none
	}
	return m.check(program, m.messages(name, field))
}

// messages finds the messages of a type, or the values of a field of them. All constraints about a type share what is found.
func (m *maker) messages(name protoreflect.FullName, field protoreflect.FieldDescriptor) func(graph.View) subjects {
	return func(s graph.View) subjects {
		places := s.Places(name)
		return subjects{len(places), func(i int) (subject, bool) { return m.message(places[i], field) }}
	}
}

// message returns a message as a subject, or a field of it. It reports false if the constraint is not about its resource, or the field is not set.
func (m *maker) message(place *graph.Place, field protoreflect.FieldDescriptor) (of subject, judged bool) {
	if place.Resource.Fragment || !suppress.OfResource(m.Resource, place.Resource) {
		return subject{}, false
	}
	at, message, contents := place.At(), place.Message, place.Resource.Contents
	if field == nil {
		return subject{at, contained{message.Interface(), contents}}, true
	}
	if fd := fieldOf(message, field); fd != nil && message.Has(fd) {
		return subject{at.Field(m.Field), m.language.types.value(fd, message.Get(fd), contents)}, true
	}
	return subject{}, false
}

// check is the check of the rule.
func (m *maker) check(program cel.Program, subjects func(graph.View) subjects) lint.Check {
	x := &expression{program, strings.TrimSpace(m.Text), m.budget}
	c := &constraint{budget: m.budget, help: m.Help, subjects: subjects, evaluate: x.evaluate}
	return lint.ForOrigin(c.start)
}

// fieldOf returns the message's own descriptor of a field, which differs in a dynamic message.
func fieldOf(m protoreflect.Message, field protoreflect.FieldDescriptor) protoreflect.FieldDescriptor {
	if field == nil || m.Descriptor() == field.ContainingMessage() {
		return field
	}
	return m.Descriptor().Fields().ByName(field.Name())
}

// overResources checks every resource of a kind.
func (m *maker) overResources() (none lint.Check) {
	kind, err := config.ParseKind(m.Snapshot)
	if err == nil && !slices.Contains(resourceKinds(), kind) {
		err = fmt.Errorf("a %s is not a resource: %s", kind, words.List(resourceKinds()))
	}
	if err != nil {
		m.faultf("snapshot", "%s", err)
		return none
	}
	if m.Field != "" {
		m.faultf("field", `it only goes with "message"; in an expression about resources, write this.message.%s`, words.Line(m.Field))
		return none
	}
	program := m.compile(resourceType(kind), "")
	if program == nil {
		return none
	}
	return m.check(program, func(s graph.View) subjects {
		all := s.All(kind)
		return subjects{len(all), func(i int) (subject, bool) {
			r := all[i]
			return subject{r.AtName(), resource{r, s}}, r.Message != nil && suppress.OfResource(m.Resource, r)
		}}
	})
}

// resourceKinds are the kinds that are resources.
func resourceKinds() []graph.Kind {
	return slices.DeleteFunc(graph.Kinds(), func(k graph.Kind) bool { return k != graph.Bootstrap && graph.TypeURL(k) == "" })
}
