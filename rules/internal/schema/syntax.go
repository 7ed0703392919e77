package schema

import (
	"fmt"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/check"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "syntax",
	Severity: lint.Error,
	Summary:  "a file that is not valid YAML, JSON or proto text",
	Run: lint.EachProblem(func(p *lint.Pass, r *graph.Resource, problem graph.Problem) {
		d := lint.Diagnostic{Message: problem.Message, Rejected: !envoy.ReadAtRuntime(r), Upstream: "Unable to parse", Notes: []string{p.OnReject(r)}}
		if problem.Lenient {
			d.Severity, d.Rejected, d.Upstream = lint.Warning, false, ""
			d.Notes = []string{"Envoy reads only the first document of a file, and this is a later one"}
		}
		switch problem.Name {
		case "document":
			d.Upstream, d.Help = "", "put each document into a file of its own"
		case "":
		case "template":
			d.Message = "this is a template, which must be rendered before it can be linted"
			d.Help = check.Render
		default: // the type of a resource
			d.Help = fmt.Sprintf(`add "@type": type.googleapis.com/%s`, problem.Name)
		}
		p.ReportProblem(r, problem, d)
	}, graph.Syntax),
})
