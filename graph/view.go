package graph

import (
	"google.golang.org/protobuf/reflect/protoreflect"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
)

// View is what a rule may ask of a snapshot. The answers are resources and references, in the order in which they were
// read, and a rule that asks nothing else depends on nothing but its own resource and these answers. *Snapshot is one.
type View interface {
	// Bootstrap returns the bootstrap, without its static resources, and its resource. It returns nil and nil if there is none that could be
	// read. The static resources are among All, and Booted finds them.
	Bootstrap() (*bootstrapv3.Bootstrap, *Resource)
	// All returns the resources of the kinds, kind by kind, or all resources if none is named.
	All(kinds ...Kind) []*Resource
	// Decoded returns the resources that have a message.
	Decoded() []*Resource
	// Names returns the names of a kind.
	Names(kind Kind) []string
	// Find returns the resource that a name refers to, or nil if there is none.
	Find(kind Kind, from Source, name string) *Resource
	// Named returns the resources of a kind and a name, from anywhere.
	Named(kind Kind, name string) []*Resource
	// Booted returns the resource of a kind and a name that the bootstrap holds, the first of several, or nil.
	Booted(kind Kind, name string) *Resource
	// Pushed returns the resource that xDS delivers under a name, or nil if there is none.
	Pushed(kind Kind, name string) *Resource

	// References returns the references to names of the kinds, kind by kind, or all references if none is named.
	References(kinds ...Kind) []*Edge
	// ReferencesIn returns the references in the fields, field by field.
	ReferencesIn(fields ...protoreflect.FullName) []*Edge
	// Places returns all messages of a type.
	Places(name protoreflect.FullName) []*Place
	// From returns the references that a resource holds.
	From(r *Resource) []*Edge
	// To returns the references of other resources to a resource, by the kind and the name of those.
	To(r *Resource) []*Edge
	// FilterChoices returns the HTTP connection managers whose filters the key of an edge of kind HTTPFilter can refer to.
	FilterChoices(e *Edge) []*Place
	// Serves reports whether traffic can reach the resource.
	Serves(r *Resource) bool

	// World returns what it means if a name of this kind, served by this source, is missing.
	World(kind Kind, from Source) World
	// Opened reports whether the user declared that more of a kind exist than the snapshot holds.
	Opened(kind Kind) bool
	// Assumes reports whether the user declared that the name exists elsewhere.
	Assumes(kind Kind, name string) bool
	// Partial reports whether the resources came without a bootstrap: others may exist that were not given.
	Partial() bool
	// Dumped reports whether the snapshot is the config dump of a running Envoy, or a part of one.
	Dumped() bool
	// Agent returns the user_agent_name of the node that has the resources, such as "envoy" or "gRPC Go", or "" if it is not known.
	Agent() string
	// Unread reports whether a resource of the kind has a part that could not be decoded.
	Unread(kind Kind) bool
}

var _ View = (*Snapshot)(nil)
