package graph

import "google.golang.org/protobuf/reflect/protoreflect"

// Reference is a field of a resource that holds a name. It depends on the resource alone, so that snapshots with the same
// resource share it.
type Reference struct {
	From   *Resource
	Path   *Path                 // the field of From that holds the name
	Field  protoreflect.FullName // that field
	Kind   Kind
	Source Source
	Target string
	Place  *Place // the message that holds the field

	leads leads
}

// leads is where the resource of a name is looked for.
type leads uint8

const (
	toResource leads = iota // among the resources of the snapshot
	toItself                // inside From, where it is
	toNothing               // inside From, where it is not
	toAllBelow              // to all resources whose names continue the name after a slash
	toAll                   // to all resources of the source
)

// Edge is a reference and the resource that it leads to in a snapshot.
type Edge struct {
	*Reference
	To *Resource // nil: dangling; From itself for names that live inside it
}

// Subscription asks a source for resources without naming them. Each resource that exists is also the target of an Edge.
type Subscription struct {
	From   *Resource
	Kind   Kind
	Source Source
	Name   string // VHDS: of the route configuration; LEDS: of the collection; SRDS, which asks for all: empty
}

// named identifies the resources of a kind and a name. There is one, unless the input is wrong.
type named struct {
	kind Kind
	name string
}
