// Package custom makes rules of the constraints that a team writes into its configuration: expressions in CEL, in the language of protovalidate, over
// messages of a type, or over resources and what refers to them.
package custom

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/decode"
	"github.com/xdslint/xdslint/graph/decode/types"
	"github.com/xdslint/xdslint/graph/source"
	"github.com/xdslint/xdslint/internal/config"
	"github.com/xdslint/xdslint/internal/suppress"
	"github.com/xdslint/xdslint/lint"
)

// Constraints makes a rule of each constraint. The built-in rules are there so that no id is in a group of theirs; known are the types of messages, nil:
// those of Envoy's API.
func Constraints(builtIn []*lint.Rule, known decode.Types) config.RuleSource {
	if known == nil {
		known = types.Envoy
	}
	language := sync.OnceValue(func() *language { return newLanguage(known) })
	return func(s *config.Config) (rules []*lint.Rule, faults []*config.Fault) {
		for i := range s.Constraints {
			m := &maker{Constraint: &s.Constraints[i], language: language()}
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
	faults   []*config.Fault
}

// faultf finds a fault at the value of a key.
func (m *maker) faultf(key, format string, args ...any) {
	fault := m.Faultf(key, format, args...)
	if m.ID != "" {
		fault.Message = fmt.Sprintf("constraint %s: %s", lint.Line(m.ID), fault.Message)
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
		r.Origin.Span = lines.Span(source.Span{End: len(first)})
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
	case wrongKind(m.Value("expression")): // which was said already
	case strings.TrimSpace(m.Expression) == "":
		m.faultf("", `there is no "expression": what is true where all is well`)
	case (m.Message == "") == (m.Snapshot == ""):
		m.faultf("", `it needs either "message", the type of the messages that it is about, or "snapshot", the kind of the resources`)
	case m.Message != "":
		r.Run = m.overMessages()
	default:
		r.Run = m.overResources()
	}
	return r
}

// wrongKind tells a value that stands where a text belongs, and cannot be read as one.
func wrongKind(n *decode.Node) bool {
	return n != nil && (n.Kind == decode.Bool || n.Kind == decode.List || n.Kind == decode.Map)
}

// summary is the rule in one line.
func (m *maker) summary() string {
	summary, _, _ := strings.Cut(strings.TrimSpace(lint.Printable(m.Text)), "\n")
	if summary == "" {
		summary = "its expression says what is wrong"
	}
	return strings.TrimSuffix(summary, ".")
}

// why ends with what is demanded, in Markdown.
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
	why := fmt.Sprintf("%s\n\nDemanded of %s:\n\n```\n%s\n```", strings.TrimSpace(m.Why), of, strings.TrimSpace(m.Expression))
	return strings.TrimSpace(lint.Printable(why))
}

func (m *maker) links() (links []string) {
	for _, link := range m.Links {
		links = append(links, lint.Line(link))
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
		m.faultf("message", "a %s is a value and not looked for by itself: name the message that has it, and the field", name)
		return none
	}
	this := objectType(md.FullName())
	var field protoreflect.FieldDescriptor
	if m.Field != "" {
		field = md.Fields().ByName(protoreflect.Name(m.Field))
		switch {
		case strings.ContainsAny(m.Field, ".["):
			m.faultf("field", "it is a field of the message itself and no path: name the message that has the field")
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
	return lint.EachOf(func(p *lint.Pass, at lint.At, found protoreflect.Message) {
		switch fd := fieldOf(found, field); {
		case !suppress.OfResource(m.Resource, at.Resource()):
		case field == nil:
			m.judge(p, at, program, contained{found.Interface(), at.Resource().Contents})
		case fd != nil && found.Has(fd):
			m.judge(p, at.Field(m.Field), program, m.language.types.value(fd, found.Get(fd), at.Resource().Contents))
		}
	}, md.FullName())
}

// fieldOf is the message's own descriptor of a field: that of a dynamic message can be another one.
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
		err = fmt.Errorf("a %s is no resource: %s", kind, joined(resourceKinds()))
	}
	if err != nil {
		m.faultf("snapshot", "%s", err)
		return none
	}
	if m.Field != "" {
		m.faultf("field", `it goes with "message"; of a resource, the expression asks this.message.%s`, lint.Line(m.Field))
		return none
	}
	program := m.compile(resourceType(kind), "")
	if program == nil {
		return none
	}
	return lint.Whole(func(p *lint.Pass) {
		for _, r := range p.Snapshot.All(kind) {
			if r.Message == nil || !suppress.OfResource(m.Resource, r) {
				continue
			}
			if !m.judge(p, r.AtName(), program, resource{r, p.Snapshot}) {
				return
			}
		}
	})
}

// resourceKinds are the kinds of which there are resources.
func resourceKinds() []graph.Kind {
	return slices.DeleteFunc(graph.Kinds(), func(k graph.Kind) bool { return k != graph.Bootstrap && graph.TypeURL(k) == "" })
}

func joined(kinds []graph.Kind) string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = string(k)
	}
	return strings.Join(names, ", ")
}
