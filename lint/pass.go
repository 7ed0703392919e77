package lint

import (
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/decode"
	"github.com/xdslint/xdslint/lint/target"
)

// Pass is one run of one rule over one snapshot.
type Pass struct {
	Rule     *Rule
	Snapshot *graph.Snapshot
	Old      *graph.Snapshot // what the data plane has before; nil in a plain run
	Push     Push            // how it gets from Old to Snapshot
	Target   target.Target
	// TargetGiven: the user named the target, it is not merely the default.
	TargetGiven bool

	report    func(Diagnostic)
	suggested int // how often a similar name was looked for
}

// At is a place that a finding can point to: a message, or one of its fields.
type At struct {
	Place *graph.Place
	path  *decode.Path
	key   bool
}

// PlaceAt is the place itself.
func PlaceAt(p *graph.Place) At { return At{Place: p, path: p.Path} }

// Resource that the place is in.
func (at At) Resource() *graph.Resource { return at.Place.Resource }

// Path from the resource's message.
func (at At) Path() *decode.Path { return at.path }

// Field goes to a field; names can be given one after the other.
func (at At) Field(names ...string) At {
	for _, name := range names {
		at.path = at.path.Field(name)
	}
	return at
}

// Item goes to an element of a repeated field.
func (at At) Item(name string, i int) At {
	at.path = at.path.Item(name, i)
	return at
}

// Entry goes to the value under a key of a map field.
func (at At) Entry(name, key string) At {
	at.path = at.path.Entry(name, key)
	return at
}

// Key points to the field's name instead of its value.
func (at At) Key() At {
	at.key = true
	return at
}

// Enclosing returns the nearest message of type M around the place, and where it is.
func Enclosing[M proto.Message](at At) (m M, where At, ok bool) {
	place := at.Place.Enclosing(m.ProtoReflect().Descriptor().FullName())
	if place == nil {
		return m, At{}, false
	}
	m, ok = place.Message.Interface().(M)
	return m, PlaceAt(place), ok
}

// Content returns what an Any holds, nil if that is not known.
func (at At) Content(any proto.Message) proto.Message { return at.Resource().Contents[any] }

// Report adds a finding at a place. The rule, its severity, the resource, the path and the span are filled in.
func (p *Pass) Report(at At, d Diagnostic) {
	d.Resource, d.Path = at.Resource(), at.path
	if d.Span.IsZero() {
		found := d.Resource.Locate(at.path)
		d.Span = found.Value
		if (at.key || !found.Exact) && !found.Key.IsZero() {
			d.Span = found.Key
		}
	}
	p.fill(&d)
}

// Reportf adds a finding that is nothing but a message.
func (p *Pass) Reportf(at At, format string, args ...any) {
	p.Report(at, Diagnostic{Message: fmt.Sprintf(format, args...)})
}

// Refuse adds a finding about something for which the target refuses the resource, delivered as it is. Upstream is the gist of
// the target's own message.
func (p *Pass) Refuse(at At, message, help, upstream string, related ...Related) {
	p.RefuseWith(at, message, help, upstream, nil, related...)
}

// RefuseWith is Refuse for a finding that can be fixed.
func (p *Pass) RefuseWith(at At, message, help, upstream string, fixes []Fix, related ...Related) {
	p.Report(at, Diagnostic{
		Message: message, Notes: []string{Refusal(at.Resource())}, Help: help, Refused: true, Upstream: upstream, Fixes: fixes, Related: related,
	})
}

// ReportEdge adds a finding at the name that a reference holds.
func (p *Pass) ReportEdge(e *graph.Edge, d Diagnostic) {
	p.Report(At{Place: e.Place, path: e.Path}, d)
}

// ReportResource adds a finding about a resource as a whole: at its name, where it has one.
func (p *Pass) ReportResource(r *graph.Resource, d Diagnostic) { p.Report(AtName(r), d) }

// AtName is the place of a resource's name; where it has none, the resource.
func AtName(r *graph.Resource) At {
	at := At{Place: &graph.Place{Resource: r}}
	if name := nameField(r); name != "" {
		at.path = at.path.Field(name)
	}
	return at
}

// ReportProblem adds a finding about something that could not be decoded.
func (p *Pass) ReportProblem(r *graph.Resource, problem decode.Problem, d Diagnostic) {
	d.Resource, d.Path, d.Span = r, problem.Path, problem.Span
	if r.Kind == graph.Patch && !problem.Carried {
		d.Upstream = "" // it does not come to the data plane
	}
	p.fill(&d)
}

func (p *Pass) fill(d *Diagnostic) {
	d.Rule = p.Rule
	if d.Severity == 0 {
		d.Severity = p.Rule.Severity
	}
	p.report(*d)
}

// nameField is the field that holds a resource's name, whether or not the input has text.
func nameField(r *graph.Resource) string {
	if r.Message == nil {
		return ""
	}
	m := r.Message.ProtoReflect()
	for _, name := range []string{"name", "cluster_name"} {
		if fd := m.Descriptor().Fields().ByName(protoreflect.Name(name)); fd != nil && m.Has(fd) {
			return name
		}
	}
	return ""
}

// RelatedTo names another place in a finding.
func RelatedTo(at At, message string) Related {
	found := at.Resource().Locate(at.path)
	span := found.Value
	if !found.Exact && !found.Key.IsZero() {
		span = found.Key
	}
	return Related{Message: message, Resource: at.Resource(), Path: at.path, Span: span}
}

// maxSuggestions bounds the search for similar names: each compares with every name of the kind.
const maxSuggestions = 100

// ReportDangling adds a finding about a reference whose target is missing. Where the world is not known to be closed it is
// a warning that says how to settle it. A similar name is suggested.
func (p *Pass) ReportDangling(e *graph.Edge, world graph.World, d Diagnostic) {
	if d.Help == "" && p.suggested < maxSuggestions {
		p.suggested++
		if near := Nearest(e.Target, p.Snapshot.Names(e.Kind)); near != "" {
			d.Help = fmt.Sprintf("did you mean %q?", near)
			if world == graph.Closed {
				d.Fixes = Correct(AtEdge(e), e.Target, near)
			}
		}
	}
	if world == graph.Presumed {
		d.Severity = min(p.Rule.Severity, Warning)
		name := e.Target
		if e.From.Object.Secret() {
			name = "NAME"
		}
		d.Notes = append(d.Notes, fmt.Sprintf("if it exists elsewhere, say so: --assume %s:%s, or --open %s for all of them", e.Kind, name, e.Kind))
	}
	p.ReportEdge(e, d)
}

// Dangling calls f for every reference to a kind whose target is missing, and tells how sure that is. Names that live in
// an open world, or that the user assumes, are left out.
func (p *Pass) Dangling(kind graph.Kind, f func(e *graph.Edge, world graph.World)) {
	for _, e := range p.Snapshot.Edges {
		if e.Kind != kind || e.To != nil || p.Snapshot.Assumes(kind, e.Target) {
			continue
		}
		if world := p.Snapshot.World(kind, e.Source); world != graph.Open {
			f(e, world)
		}
	}
}

// Problems calls f for every place of a kind where an input was no message of its type.
func (p *Pass) Problems(kind decode.ProblemKind, f func(r *graph.Resource, problem decode.Problem)) {
	for _, r := range p.Snapshot.Resources {
		for _, problem := range r.Problems {
			if problem.Kind == kind {
				f(r, problem)
			}
		}
	}
}
