package graph

import "google.golang.org/protobuf/reflect/protoreflect"

// Question is something that was asked of a View and whose answer can differ in a snapshot that was made from it (Snapshot.With).
type Question struct {
	about about
	kind  Kind
	name  string
	of    *Resource
}

type about uint8

const (
	allOfKind about = iota
	namesOfKind
	resourceNamed
	referencesToKind
	referencesInField
	placesOfType
	edgesFrom
	edgesInto
	filterChoices
	reachable
)

// Of returns the resource that a question about its edges is about, or nil.
func (q Question) Of() *Resource { return q.of }

// Asking is a View of a snapshot that notes the questions. What it does not note has the same answer in all snapshots that are made
// from this one at the cost of a change.
type Asking struct {
	*Snapshot
	Note func(Question)
}

var _ View = Asking{}

// All implements View.
func (a Asking) All(kinds ...Kind) []*Resource {
	a.noteKinds(allOfKind, kinds)
	return a.Snapshot.All(kinds...)
}

// Decoded implements View.
func (a Asking) Decoded() []*Resource {
	a.Note(Question{about: allOfKind})
	return a.Snapshot.Decoded()
}

// Names implements View.
func (a Asking) Names(kind Kind) []string {
	a.Note(Question{about: namesOfKind, kind: kind})
	return a.Snapshot.Names(kind)
}

// Find implements View.
func (a Asking) Find(kind Kind, from Source, name string) *Resource {
	a.Note(Question{about: resourceNamed, kind: kind, name: name})
	return a.Snapshot.Find(kind, from, name)
}

// Named implements View.
func (a Asking) Named(kind Kind, name string) []*Resource {
	a.Note(Question{about: resourceNamed, kind: kind, name: name})
	return a.Snapshot.Named(kind, name)
}

// Pushed implements View.
func (a Asking) Pushed(kind Kind, name string) *Resource {
	a.Note(Question{about: resourceNamed, kind: kind, name: name})
	return a.Snapshot.Pushed(kind, name)
}

// References implements View.
func (a Asking) References(kinds ...Kind) []*Edge {
	a.noteKinds(referencesToKind, kinds)
	return a.Snapshot.References(kinds...)
}

// ReferencesIn implements View.
func (a Asking) ReferencesIn(fields ...protoreflect.FullName) []*Edge {
	for _, field := range fields {
		a.Note(Question{about: referencesInField, name: string(field)})
	}
	return a.Snapshot.ReferencesIn(fields...)
}

// Places implements View.
func (a Asking) Places(name protoreflect.FullName) []*Place {
	a.Note(Question{about: placesOfType, name: string(name)})
	return a.Snapshot.Places(name)
}

// From implements View.
func (a Asking) From(r *Resource) []*Edge {
	a.Note(Question{about: edgesFrom, of: r})
	return a.Snapshot.From(r)
}

// To implements View.
func (a Asking) To(r *Resource) []*Edge {
	a.Note(Question{about: edgesInto, of: r})
	return a.Snapshot.To(r)
}

// FilterChoices implements View.
func (a Asking) FilterChoices(e *Edge) []*Place {
	a.Note(Question{about: filterChoices})
	return a.Snapshot.FilterChoices(e)
}

// Serves implements View.
func (a Asking) Serves(r *Resource) bool {
	a.Note(Question{about: reachable})
	return a.Snapshot.Serves(r)
}

func (a Asking) noteKinds(about about, kinds []Kind) {
	if len(kinds) == 0 {
		a.Note(Question{about: about})
	}
	for _, kind := range kinds {
		a.Note(Question{about: about, kind: kind})
	}
}
