package envoy

import (
	"strings"

	"github.com/xdslint/xdslint/graph"
)

// OnReject says what Envoy does with a resource that it refuses, by how the resource is delivered: a note for findings.
func OnReject(r *graph.Resource) string {
	switch {
	case r.Kind == graph.Patch && r.Object.Kind == graph.EnvoyPatchPolicy:
		return "Envoy Gateway leaves this patch out, or envoy refuses what comes of it (NACK) and goes on with what it had"
	case r.Kind == graph.Patch:
		return "envoy refuses what comes of the patch (NACK) and goes on with what it had"
	case r.Delivery == graph.FromBootstrap:
		return "envoy refuses the bootstrap and exits"
	case r.Kind == graph.File && ReadAtRuntime(r):
		return "envoy starts, and goes on without these resources"
	case r.Kind == graph.File:
		return "envoy refuses the file"
	}
	return "envoy refuses the update (NACK) and goes on with what it had"
}

// OnDecodeError says what becomes of a resource that is no message of its type. Of a patch, the control plane finds that out.
func OnDecodeError(r *graph.Resource, problem graph.Problem) string {
	switch {
	case r.Object == nil || r.Kind != graph.Patch && r.Kind != graph.File || problem.Carried:
		return OnReject(r)
	case r.Object.Kind == graph.EnvoyFilter:
		return "Istio refuses the EnvoyFilter; where its webhook is off, it leaves this patch out"
	case r.Object.Kind == graph.EnvoyPatchPolicy:
		return "Envoy Gateway leaves this patch out, and the policy is not Programmed"
	}
	return OnReject(r)
}

// OnlyAtStart is the note of a finding about what --mode validate does not look at. Such a finding is no Refused one.
const OnlyAtStart = "envoy --mode validate accepts it, and a real start ends at once"

// ReadAtRuntime tells a file that a bootstrap names as the source of resources: Envoy does not open it before it runs.
func ReadAtRuntime(r *graph.Resource) bool { return strings.HasPrefix(string(r.Source), "path:") }
