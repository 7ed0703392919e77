package lint

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/graph"
)

// Pass is one run of one rule over one snapshot.
type Pass struct {
	Rule     *Rule
	Snapshot graph.View
	Old      graph.View // what the data plane has before the push; nil in a plain run
	Push     Push       // how it gets from Old to Snapshot
	Config              // of the run

	severity Severity // of the rule, in the profile
	ctx      context.Context
	into     *Result
	searches searches // for similar names
	worker   *worker  // nil for custom rules; see Shared
}

// errEnded is the panic that leaves a rule when the context of the run has ended, wherever it reports or asks for the next of many.
var errEnded = errors.New("the run has ended")

// begin makes a pass ready for a resource, or a snapshot.
func (p *Pass) begin(into *Result) {
	p.into, p.searches.left, p.searches.finder.Work = into, maxSearches, searchWork
}

// proceed leaves the rule if the run has ended. Custom rules look at the context themselves.
func (p *Pass) proceed() {
	if p.ctx.Err() != nil && p.Rule.Origin == nil {
		panic(errEnded)
	}
}

// Full reports whether the run keeps no more findings of the rule, or has ended. Further ones are counted, and need no help and no fixes.
func (p *Pass) Full() bool { return p.into.full(p.Rule) || p.ctx.Err() != nil }

// At is a place that a finding can point to: a message, or one of its fields.
type At = graph.At

// Report adds a finding at a place. It fills in the rule, its severity, the resource, the path and the span.
func (p *Pass) Report(at At, d Diagnostic) {
	d.Resource, d.Path = at.Resource(), at.Path()
	if d.Span.IsZero() && !p.Full() {
		d.Span = at.Span()
	}
	p.fill(&d)
}

// Reportf adds a finding that has only a message.
func (p *Pass) Reportf(at At, format string, args ...any) {
	p.Report(at, Diagnostic{Message: fmt.Sprintf(format, args...)})
}

// Rejection describes something that the target rejects.
type Rejection struct {
	Message  string // what is wrong here
	Help     string // what to write instead
	Upstream string // the core of the target's own message
	Fixes    []Fix
	Related  []Related
}

// Reject adds a finding for which the target rejects the resource, as delivered.
func (p *Pass) Reject(at At, r Rejection) {
	p.Report(at, Diagnostic{
		Message: r.Message, Notes: []string{p.OnReject(at.Resource())}, Help: r.Help, Rejected: true, Upstream: r.Upstream, Fixes: r.Fixes, Related: r.Related,
	})
}

// OnReject returns the note that says what happens when the target rejects r.
func (p *Pass) OnReject(r *graph.Resource) string {
	if p.Target.Family() == dataplane.GRPC {
		return grpc.OnReject(p.Target, r)
	}
	return envoy.OnReject(r)
}

// OnDecodeError returns the note that says what happens to a resource that does not decode as its type.
func (p *Pass) OnDecodeError(r *graph.Resource, problem graph.Problem) string {
	if p.Target.Family() == dataplane.GRPC {
		return grpc.OnReject(p.Target, r)
	}
	return envoy.OnDecodeError(r, problem)
}

// ReportEdge adds a finding at the name that a reference holds.
func (p *Pass) ReportEdge(e *graph.Edge, d Diagnostic) {
	p.Report(e.At(), d)
}

// ReportResource adds a finding about a resource as a whole, at its name if it has one.
func (p *Pass) ReportResource(r *graph.Resource, d Diagnostic) { p.Report(r.AtName(), d) }

// ReportProblem adds a finding about something that could not be decoded.
func (p *Pass) ReportProblem(r *graph.Resource, problem graph.Problem, d Diagnostic) {
	d.Resource, d.Path, d.Span = r, problem.Path, problem.Span
	if r.Kind == graph.Patch && !problem.Carried {
		d.Upstream = "" // it does not reach the data plane
	}
	p.fill(&d)
}

func (p *Pass) fill(d *Diagnostic) {
	p.proceed()
	if !p.meant(d.Resource) {
		return
	}
	d.Rule = p.Rule
	if d.Severity == 0 {
		d.Severity = p.severity
	}
	p.into.found(*d)
}

// RelatedTo returns a Related for another place, with a message about it.
func RelatedTo(at At, message string) Related {
	return Related{Message: message, Resource: at.Resource(), Path: at.Path(), Span: at.Span()}
}

// ReportDangling adds a finding about a reference whose target is missing, and suggests a similar name. If the world is
// not known to be closed, the finding is a warning that says how to declare the name.
func (p *Pass) ReportDangling(e *graph.Edge, world graph.World, d Diagnostic) {
	if d.Help == "" && d.guess == nil {
		d.Guess(e.Target, others(e), func(d *Diagnostic, near string) {
			d.Help = fmt.Sprintf("did you mean %q?", near)
			if world == graph.Closed {
				d.Fixes = Correct(e.At(), e.Target, near)
			}
		})
	}
	if world == graph.Presumed {
		d.Severity = min(p.severity, Warning)
		name := e.Target
		if e.From.Object.Secret() {
			name = "NAME"
		}
		d.Notes = append(d.Notes, fmt.Sprintf("if it exists elsewhere, say so: --assume %s:%s, or --open %s for all of them", e.Kind, name, e.Kind))
	}
	p.ReportEdge(e, d)
}

// others returns the names that a reference may have meant. A resource does not mean itself.
func others(e *graph.Edge) func(graph.View) []string {
	return func(v graph.View) []string {
		names := v.Names(e.Kind)
		if e.Kind == e.From.Kind {
			names = slices.DeleteFunc(names, func(name string) bool { return name == e.From.Name })
		}
		return names
	}
}
