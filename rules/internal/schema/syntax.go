package schema

import (
	"fmt"
	"strings"

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
		case "":
			d.Help = inYAML(r.File, problem)
		case "document":
			d.Upstream, d.Help = "", "put each document into a file of its own"
		case "template":
			d.Message = "this is a template, which must be rendered before it can be linted"
			d.Help = check.Render
		default: // the type of a resource
			d.Help = fmt.Sprintf(`add "@type": type.googleapis.com/%s`, problem.Name)
		}
		p.ReportProblem(r, problem, d)
	}, graph.Syntax),
})

// inYAML says what to write instead of what people often get wrong in YAML.
func inYAML(f *graph.SourceFile, problem graph.Problem) string {
	at := problem.Span.Start
	switch {
	case strings.Contains(problem.Message, "tab character"):
		return "indent with spaces: YAML does not take tabs"
	case strings.Contains(problem.Message, "mapping values are not allowed"), strings.Contains(problem.Message, "did not find expected key"),
		strings.Contains(problem.Message, "did not find expected '-' indicator"):
		return "compare the indentation of this line with that of the lines above"
	case strings.Contains(problem.Message, "alphabetic or numeric character"): // of the name of an anchor
		return "write the * or & in quotes"
	case at < len(f.Text) && strings.ContainsRune("@`%", rune(f.Text[at])):
		return fmt.Sprintf("write what begins with %c in quotes", f.Text[at])
	}
	return ""
}
