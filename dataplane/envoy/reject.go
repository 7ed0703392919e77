package envoy

import (
	"strings"

	"github.com/xdslint/xdslint/graph"
)

// OnReject returns the note that says what happens when Envoy rejects r. It depends on how r is delivered.
func OnReject(r *graph.Resource) string {
	switch {
	case r.Kind == graph.Patch && r.Object.Kind == graph.EnvoyPatchPolicy:
		return "Envoy Gateway skips this patch, or Envoy rejects the patched resource (NACK) and keeps its previous configuration"
	case r.Kind == graph.Patch:
		return "Envoy rejects the patched resource (NACK) and keeps its previous configuration"
	case r.Delivery == graph.FromBootstrap:
		return "Envoy rejects the bootstrap and exits"
	case r.Kind == graph.File && ReadAtRuntime(r):
		return "Envoy starts without these resources"
	case r.Kind == graph.File:
		return "Envoy rejects the file"
	}
	return "Envoy rejects the update (NACK) and keeps its previous configuration"
}

// OnDecodeError returns the note that says what happens to a resource that does not decode as its type. For a patch, the control plane
// finds the problem before Envoy does.
func OnDecodeError(r *graph.Resource, problem graph.Problem) string {
	switch {
	case r.Object == nil || r.Kind != graph.Patch && r.Kind != graph.File || problem.Carried:
		return OnReject(r)
	case r.Object.Kind == graph.EnvoyFilter:
		return "Istio rejects the EnvoyFilter; if its webhook is off, Istio skips this patch"
	case r.Object.Kind == graph.EnvoyPatchPolicy:
		return "Envoy Gateway skips this patch, and the policy is not Programmed"
	}
	return OnReject(r)
}

// OnlyAtStart is the note of a finding that --mode validate misses. Such a finding is not marked as Rejected.
const OnlyAtStart = "envoy --mode validate accepts it, but Envoy exits at startup"

// ReadAtRuntime reports whether r is a file that a bootstrap names as a source of resources. Envoy opens it only after it has started.
func ReadAtRuntime(r *graph.Resource) bool { return strings.HasPrefix(string(r.Source), "path:") }
