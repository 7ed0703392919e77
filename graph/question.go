package graph

import (
	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	"google.golang.org/protobuf/reflect/protoreflect"
)

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
	booting
)

// Of returns the resource that a question about its edges is about, or nil.
func (q Question) Of() *Resource { return q.of }

// Asked returns a View of the snapshot that notes the questions. What it does not note has the same answer in all snapshots that are made
// from this one at the cost of a change (Since).
func (s *Snapshot) Asked(note func(Question)) View { return asking{s, note} }

type asking struct {
	*Snapshot
	note func(Question)
}

func (a asking) Bootstrap() (*bootstrapv3.Bootstrap, *Resource) {
	a.note(Question{about: booting})
	return a.Snapshot.Bootstrap()
}

func (a asking) All(kinds ...Kind) []*Resource {
	a.noteKinds(allOfKind, kinds)
	return a.Snapshot.All(kinds...)
}

func (a asking) Decoded() []*Resource {
	a.note(Question{about: allOfKind})
	return a.Snapshot.Decoded()
}

func (a asking) Names(kind Kind) []string {
	a.note(Question{about: namesOfKind, kind: kind})
	return a.Snapshot.Names(kind)
}

func (a asking) Find(kind Kind, from Source, name string) *Resource {
	a.note(Question{about: resourceNamed, kind: kind, name: name})
	return a.Snapshot.Find(kind, from, name)
}

func (a asking) Named(kind Kind, name string) []*Resource {
	a.note(Question{about: resourceNamed, kind: kind, name: name})
	return a.Snapshot.Named(kind, name)
}

func (a asking) Booted(kind Kind, name string) *Resource {
	a.note(Question{about: resourceNamed, kind: kind, name: name})
	return a.Snapshot.Booted(kind, name)
}

func (a asking) Pushed(kind Kind, name string) *Resource {
	a.note(Question{about: resourceNamed, kind: kind, name: name})
	return a.Snapshot.Pushed(kind, name)
}

func (a asking) References(kinds ...Kind) []*Edge {
	a.noteKinds(referencesToKind, kinds)
	return a.Snapshot.References(kinds...)
}

func (a asking) ReferencesIn(fields ...protoreflect.FullName) []*Edge {
	for _, field := range fields {
		a.note(Question{about: referencesInField, name: string(field)})
	}
	return a.Snapshot.ReferencesIn(fields...)
}

func (a asking) Places(name protoreflect.FullName) []*Place {
	a.note(Question{about: placesOfType, name: string(name)})
	return a.Snapshot.Places(name)
}

func (a asking) From(r *Resource) []*Edge {
	a.note(Question{about: edgesFrom, of: r})
	return a.Snapshot.From(r)
}

func (a asking) To(r *Resource) []*Edge {
	a.note(Question{about: edgesInto, of: r})
	return a.Snapshot.To(r)
}

func (a asking) FilterChoices(e *Edge) []*Place {
	a.note(Question{about: filterChoices})
	return a.Snapshot.FilterChoices(e)
}

func (a asking) Serves(r *Resource) bool {
	a.note(Question{about: reachable})
	return a.Snapshot.Serves(r)
}

func (a asking) noteKinds(about about, kinds []Kind) {
	if len(kinds) == 0 {
		a.note(Question{about: about})
	}
	for _, kind := range kinds {
		a.note(Question{about: about, kind: kind})
	}
}
