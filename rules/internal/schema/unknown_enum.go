package schema

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/check"
)

var _ = Rules.Add(&lint.Rule{
	Name:      "unknown-enum",
	Severity:  lint.Error,
	Fragments: true,
	Summary:   "a name that is not a value of its enum",
	Run:       lint.EachProblem(unknownEnum, graph.UnknownEnum),
})

func unknownEnum(p *lint.Pass, r *graph.Resource, problem graph.Problem) {
	d := lint.Diagnostic{
		Message: problem.Message, Notes: []string{p.OnDecodeError(r, problem)},
		Rejected: r.Delivery == graph.FromBootstrap || r.Kind == graph.Patch && !problem.Carried,
		Upstream: fmt.Sprintf("unknown enum value: '%s'", problem.Name),
	}
	if !d.Rejected {
		d.Severity, d.Upstream = lint.Warning, ""
		d.Notes = []string{"over xDS, " + p.Target.Actor() + " silently drops it, and the field keeps its default"}
	}
	names := enumNames(problem.Enum)
	if near := lint.Nearest(problem.Name, names); near != "" && editDistance(strings.ToUpper(problem.Name), near) <= max(1, len(near)/3) {
		d.Help = fmt.Sprintf("did you mean %q?", near)
		d.Fixes = lint.Replace(lint.AtProblem(r, problem), near).Likely(fmt.Sprintf("write %q", near))
	} else if len(names) > 0 && len(names) <= 12 {
		d.Help = "write one of " + strings.Join(names, ", ")
	}
	d.Help = check.ValueHelp(problem.Name, d.Help)
	p.ReportProblem(r, problem, d)
}

// enumNames lists the values of an enum that are still in use.
func enumNames(ed protoreflect.EnumDescriptor) []string {
	var names []string
	for i := range ed.Values().Len() {
		if v := ed.Values().Get(i); !deprecatedValue(v) {
			names = append(names, string(v.Name()))
		}
	}
	return names
}
