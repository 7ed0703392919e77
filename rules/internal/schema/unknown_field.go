package schema

import (
	"fmt"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/tree"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/check"
)

var _ = Rules.Add(&lint.Rule{
	Name:      "unknown-field",
	Severity:  lint.Error,
	Fragments: true,
	Summary:   "a field that its message does not have",
	Links:     []string{"https://github.com/envoyproxy/envoy/issues/4053"},
	Run: lint.EachResource(func(p *lint.Pass, r *graph.Resource) {
		if !has(r, graph.UnknownField) {
			return
		}
		places := byPath(r)
		for _, problem := range r.Problems {
			if problem.Kind == graph.UnknownField {
				unknownField(p, r, problem, around(places, problem))
			}
		}
	}),
})

func unknownField(p *lint.Pass, r *graph.Resource, problem graph.Problem, at *graph.Place) {
	d := lint.Diagnostic{Message: problem.Message, Rejected: r.Delivery == graph.FromBootstrap}
	switch {
	case r.Delivery == graph.FromBootstrap:
		d.Notes = []string{p.OnReject(r)}
		d.Upstream = fmt.Sprintf("no such field: '%s'", problem.Name)
		if r.Text == nil {
			d.Upstream = fmt.Sprintf("with unknown field set {%s}", problem.Name)
		}
	case check.RejectedByGateway(r, problem):
		d.Rejected, d.Notes = true, []string{p.OnDecodeError(r, problem)}
	case r.Kind == graph.Patch && !problem.Carried:
		d.Severity = lint.Warning
		d.Notes = []string{"Istio logs a warning and drops the field"}
	case r.Text == nil:
		d.Severity = lint.Info
		d.Notes = []string{p.Target.Actor() + " silently drops it, unless it knows a newer API than xdslint"}
	default:
		d.Severity = lint.Warning
		d.Notes = []string{"over xDS, " + p.Target.Actor() + " silently drops it"}
	}
	if r.Text != nil && problem.In != nil && !p.Full() {
		suggestField(&d, r, problem, at)
	}
	p.ReportProblem(r, problem, d)
}

// suggestField adds the field that was probably meant: one with a similar name, or the place where a field of that name belongs.
func suggestField(d *lint.Diagnostic, r *graph.Resource, problem graph.Problem, at *graph.Place) {
	if help := replaced[replacedField{problem.In.FullName(), problem.Name}]; help != "" {
		d.Help = help
		return
	}
	typed := "typed_" + problem.Name
	if help := replaced[replacedField{"", problem.Name}]; help != "" && problem.In.Fields().ByName(protoreflect.Name(typed)) != nil {
		d.Help = help
		if problem.Node.Get("@type") != nil {
			d.Fixes = lint.Rename(lint.AtProblem(r, problem), typed).Likely(fmt.Sprintf("write %q", typed))
		}
		return
	}
	if problem.Name == "<<" {
		d.Help = "write the fields out: Envoy reads anchors (&, *) of YAML, but not merge keys"
		return
	}
	near := check.Meant(problem)
	where := elsewhere(problem, at)
	switch {
	case where != "" && (near == "" || editDistance(problem.Name, near) > 2):
		d.Help = where
	case near != "":
		d.Help = fmt.Sprintf("did you mean %q?", near)
		d.Fixes = lint.Rename(lint.AtProblem(r, problem), near).Likely(fmt.Sprintf("write %q", near))
	}
}

// elsewhere describes where else a field of that name is: in a message inside this one, or in one around it.
func elsewhere(problem graph.Problem, at *graph.Place) string {
	if field := check.Holder(problem); field != "" {
		return fmt.Sprintf("move it one level down, into %s", field)
	}
	if at == nil {
		return ""
	}
	if field := insideAny(problem, at); field != "" {
		return fmt.Sprintf("move it one level down, into %s", field)
	}
	levels := 0
	for up := at; up.Parent != nil; up = up.Parent {
		if up.Path != up.Parent.Path {
			levels++
		}
		if md := up.Parent.Message.Descriptor(); decode.FieldNamed(md.Fields(), problem.Name) != nil && md != problem.In && md.FullName() != "google.protobuf.Any" {
			return fmt.Sprintf("move it %s up, into the %s", count(levels, "level"), md.Name())
		}
	}
	return ""
}

// insideAny looks for the field in the configurations next to an unknown field.
func insideAny(problem graph.Problem, at *graph.Place) (field string) {
	decode.EachMessage(at.Message, func(inner protoreflect.Message, step tree.Step) {
		if content := at.Resource.Contents[inner.Interface()]; content != nil && decode.FieldNamed(content.ProtoReflect().Descriptor().Fields(), problem.Name) != nil {
			field = step.Name()
		}
	})
	return field
}

func count(n int, what string) string {
	if n == 1 {
		return "one " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
