package schema

import (
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "syntax",
	Severity: lint.Error,
	Summary:  "a file that is not valid YAML, JSON or proto text",
	Run: lint.ForSnapshot(func(p *lint.Pass) {
		p.Problems(graph.Syntax, func(r *graph.Resource, problem graph.Problem) {
			d := lint.Diagnostic{Message: problem.Message, Rejected: !envoy.ReadAtRuntime(r), Upstream: "Unable to parse", Notes: []string{envoy.OnReject(r)}}
			if problem.Name == "template" {
				d.Message = "this is a template, which must be rendered before it can be linted"
				d.Help = "render it and lint the result, or leave it out of the paths"
			}
			p.ReportProblem(r, problem, d)
		})
	}),
})
