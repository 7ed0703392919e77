package schema

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/xdslint/xdslint/graph"
)

// byPath maps paths to the messages of a resource. At the path of an Any is its content, if that was decoded.
func byPath(r *graph.Resource) map[string]*graph.Place {
	places := map[string]*graph.Place{}
	r.Walk(func(at *graph.Place) { places[at.Path.String()] = at })
	return places
}

// around returns the message that a problem is in, or nil.
func around(places map[string]*graph.Place, problem graph.Problem) *graph.Place {
	at := places[problem.Path.Parent().String()]
	if at == nil || problem.In != nil && at.Message.Descriptor() != problem.In {
		return nil
	}
	return at
}

func has(r *graph.Resource, kind graph.ProblemKind) bool {
	for _, problem := range r.Problems {
		if problem.Kind == kind {
			return true
		}
	}
	return false
}

// undecoded reports whether the text of a message itself is not one of its type, so that the message is empty for that
// reason.
func undecoded(at *graph.Place) bool {
	return slices.ContainsFunc(at.Resource.ProblemsAt(at.Path), func(p graph.Problem) bool { return p.Kind != graph.DuplicateKey })
}

// wantsString reports whether a problem is a word without quotes that Envoy reads as a boolean or number instead of a string.
func wantsString(problem graph.Problem) bool {
	return strings.Contains(problem.Message, "in quotes it is a string")
}

func deprecatedValue(v protoreflect.EnumValueDescriptor) bool {
	options, ok := v.Options().(*descriptorpb.EnumValueOptions)
	return ok && options.GetDeprecated()
}
