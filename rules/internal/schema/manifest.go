package schema

import (
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "manifest",
	Severity: lint.Error,
	Summary:  "a Kubernetes object whose patches or texts cannot be read as xDS",
	Links: []string{
		"ValidateEnvoyFilter (istio: pkg/config/validation/envoyfilter/envoyfilter.go)",
		"processJSONPatches (Envoy Gateway: internal/xds/translator/jsonpatch.go)",
	},
	Run: lint.EachProblem(func(p *lint.Pass, r *graph.Resource, problem graph.Problem) {
		d := lint.Diagnostic{Message: problem.Message}
		switch {
		case problem.Lenient:
			d.Severity = lint.Warning
		case r.Object.Kind == graph.EnvoyFilter:
			d.Rejected, d.Notes = true, []string{"Istio rejects the EnvoyFilter"}
		case r.Object.Kind == graph.EnvoyPatchPolicy:
			d.Rejected, d.Notes = true, []string{p.OnDecodeError(r, problem)}
		}
		p.ReportProblem(r, problem, d)
	}, graph.BadObject),
})
