package schema

import (
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/decode"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "syntax",
	Severity: lint.Error,
	Summary:  "a file that is no YAML, JSON or proto text",
	Why: `Envoy reads .yaml and .yml as YAML, .pb_text as proto text, .pb as binary, and everything else as JSON. A bootstrap that it
cannot parse ends it at once. A file that delivers resources is not looked at by ` + "`--mode validate`" + `: there a broken one
shows only in the log of the running Envoy ("Filesystem config update failure"), which goes on with what it had.

Templates (Helm, Go, ${VAR}) are no xDS before they are rendered. They are named as such, and not linted.`,
	Run: lint.Whole(func(p *lint.Pass) {
		p.Problems(decode.Syntax, func(r *graph.Resource, problem decode.Problem) {
			d := lint.Diagnostic{Message: problem.Message, Refused: !envoy.ReadAtRuntime(r), Upstream: "Unable to parse", Notes: []string{envoy.OnReject(r)}}
			if problem.Name == "template" {
				d.Message = "this is a template, which has to be rendered before it can be linted"
				d.Help = "render it first and lint what comes out, or leave it out of the paths"
			}
			p.ReportProblem(r, problem, d)
		})
	}),
})
