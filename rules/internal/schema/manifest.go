package schema

import (
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/decode"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "manifest",
	Severity: lint.Error,
	Summary:  "a Kubernetes object whose patches or texts cannot be read as xDS",
	Why: `xdslint reads what Kubernetes objects hold of Envoy: the texts of a ConfigMap or a Secret with the label ` + "`xdslint.dev/check`" + `, the patches
of an Istio EnvoyFilter, and those of an Envoy Gateway EnvoyPatchPolicy. This rule is about the object around them: a patch without an
applyTo, an operation that needs a value and has none, a JSON path that leads to no field, a label on a ConfigMap in which nothing is xDS.

What Istio and Envoy Gateway refuse themselves is an error. Istio's webhook refuses the object; without that, a patch that cannot be read is left
out, and one whose match cannot be read may be applied everywhere. Envoy Gateway leaves the patch out, and all that shows is the policy's status.

An operation that Istio passes over is a warning, for example a REPLACE of a CLUSTER: the object is admitted and does nothing.`,
	Links: []string{
		"ValidateEnvoyFilter (istio: pkg/config/validation/envoyfilter/envoyfilter.go)",
		"processJSONPatches (Envoy Gateway: internal/xds/translator/jsonpatch.go)",
	},
	Run: lint.Whole(func(p *lint.Pass) {
		p.Problems(decode.BadObject, func(r *graph.Resource, problem decode.Problem) {
			d := lint.Diagnostic{Message: problem.Message}
			switch {
			case problem.Lenient:
				d.Severity = lint.Warning
			case r.Object.Kind == graph.EnvoyFilter:
				d.Refused, d.Notes = true, []string{"Istio refuses the EnvoyFilter"}
			case r.Object.Kind == graph.EnvoyPatchPolicy:
				d.Refused, d.Notes = true, []string{envoy.OnDecodeError(r, problem)}
			}
			p.ReportProblem(r, problem, d)
		})
	}),
})
