package schema

import (
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/xdslint/xdslint/graph"
)

// byPath maps the paths of a resource's messages to the messages, the content of an Any before the Any.
func byPath(r *graph.Resource) map[string]*graph.Place {
	places := map[string]*graph.Place{}
	r.Walk(func(at *graph.Place) { places[at.Path.String()] = at })
	return places
}

// around finds the message that a problem is in.
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

// wantsString tells a bare word that Envoy reads as a boolean or a number where a string belongs.
func wantsString(problem graph.Problem) bool {
	return strings.Contains(problem.Message, "in quotes it is a string")
}

func deprecatedValue(v protoreflect.EnumValueDescriptor) bool {
	options, ok := v.Options().(*descriptorpb.EnumValueOptions)
	return ok && options.GetDeprecated()
}
