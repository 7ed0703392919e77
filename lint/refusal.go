package lint

import (
	"strings"

	"github.com/xdslint/xdslint/graph"
)

// Refusal says what Envoy does with a resource that it refuses, by how the resource is delivered: a note for findings.
func Refusal(r *graph.Resource) string {
	switch {
	case r.Delivery == graph.Booted:
		return "envoy refuses the bootstrap and exits"
	case r.Kind == graph.File && OpenedLate(r):
		return "envoy starts, and goes on without these resources"
	case r.Kind == graph.File:
		return "envoy refuses the file"
	}
	return "envoy refuses the update (NACK) and goes on with what it had"
}

// AtStart is the note of a finding about what --mode validate does not look at. Such a finding is no Refused one.
const AtStart = "envoy --mode validate accepts it, and a real start ends at once"

// OpenedLate tells a file that a bootstrap names as the source of resources: Envoy does not open it before it runs.
func OpenedLate(r *graph.Resource) bool { return strings.HasPrefix(string(r.Source), "path:") }
