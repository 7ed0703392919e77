package graph

import (
	"sync"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// lists are answers that are long to find. Each is found when it is first asked for, and is the answer in snapshots made from this one until a
// change touches it.
type lists struct {
	mu      sync.Mutex
	grouped bool // edges has all kinds
	edges   map[Question][]*Edge
	places  map[Question][]*Place
	decoded []*Resource
}

// References returns the references to names of the kinds, kind by kind, or all references if none is named. Build must
// have been called. The caller must not change them.
func (s *Snapshot) References(kinds ...Kind) []*Edge {
	s.lists.mu.Lock()
	defer s.lists.mu.Unlock()
	all := Question{about: referencesToKind}
	if !s.lists.grouped {
		s.group(all)
	}
	if len(kinds) == 0 {
		return s.lists.edges[all]
	}
	if len(kinds) == 1 {
		return s.lists.edges[Question{about: referencesToKind, kind: kinds[0]}]
	}
	var union []*Edge
	for _, kind := range kinds {
		union = append(union, s.lists.edges[Question{about: referencesToKind, kind: kind}]...)
	}
	return union
}

// group lists the edges by kind, and all of them.
func (s *Snapshot) group(all Question) {
	byKind := map[Kind][]*Edge{}
	var edges []*Edge
	for _, r := range s.Resources {
		for _, e := range s.from.Get(r) {
			byKind[e.Kind] = append(byKind[e.Kind], e)
			edges = append(edges, e)
		}
	}
	s.lists.remember(all, edges)
	for kind, edges := range byKind {
		s.lists.remember(Question{about: referencesToKind, kind: kind}, edges)
	}
	s.lists.grouped = true
}

func (l *lists) remember(q Question, edges []*Edge) {
	if l.edges == nil {
		l.edges = map[Question][]*Edge{}
	}
	l.edges[q] = edges
}

// ReferencesIn returns the references in the fields, field by field. Build must have been called. The caller must not change them.
func (s *Snapshot) ReferencesIn(fields ...protoreflect.FullName) []*Edge {
	s.lists.mu.Lock()
	defer s.lists.mu.Unlock()
	var union []*Edge
	for _, field := range fields {
		q := Question{about: referencesInField, name: string(field)}
		found, known := s.lists.edges[q]
		if !known {
			for _, r := range s.Resources {
				for _, e := range s.from.Get(r) {
					if e.Field == field {
						found = append(found, e)
					}
				}
			}
			s.lists.remember(q, found)
		}
		union = append(union, found...)
	}
	return union
}

// Places returns all messages of a type. Build must have been called. The caller must not change them.
func (s *Snapshot) Places(name protoreflect.FullName) []*Place {
	s.lists.mu.Lock()
	defer s.lists.mu.Unlock()
	q := Question{about: placesOfType, name: string(name)}
	found, known := s.lists.places[q]
	if !known {
		var last *shape
		has := true
		for _, r := range s.Resources {
			if r.shape != last {
				last, has = r.shape, r.shape.has(name)
			}
			if !has {
				continue
			}
			r.Walk(func(at *Place) {
				if at.Message.Descriptor().FullName() == name {
					found = append(found, at)
				}
			})
		}
		if s.lists.places == nil {
			s.lists.places = map[Question][]*Place{}
		}
		s.lists.places[q] = found
	}
	return found
}

// Decoded returns the resources that have a message.
func (s *Snapshot) Decoded() []*Resource {
	s.lists.mu.Lock()
	defer s.lists.mu.Unlock()
	if s.lists.decoded == nil {
		for _, r := range s.Resources {
			if r.Message != nil {
				s.lists.decoded = append(s.lists.decoded, r)
			}
		}
	}
	return s.lists.decoded
}

// inherit takes those of another snapshot's answers that the change did not touch.
func (l *lists) inherit(from *lists, touched map[Question]bool) {
	from.mu.Lock()
	defer from.mu.Unlock()
	for q, edges := range from.edges {
		if q.about == referencesInField && !touched[q] {
			l.remember(q, edges)
		}
	}
	for q, places := range from.places {
		if !touched[q] {
			if l.places == nil {
				l.places = map[Question][]*Place{}
			}
			l.places[q] = places
		}
	}
}
