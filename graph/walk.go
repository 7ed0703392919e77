package graph

import (
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/tree"
)

// Place is one message anywhere inside a resource.
type Place struct {
	Resource *Resource
	Parent   *Place // nil: the resource's own message
	Message  protoreflect.Message
	Path     *Path
	// Opaque is true for an Any whose content is not known.
	Opaque bool
}

// Walk visits every message of the resource, parents first, through every Any and TypedStruct. It visits a decoded Any
// first, then its content. It leaves out the static resources of a bootstrap, which are separate resources. The places
// are the same each time.
func (r *Resource) Walk(visit func(*Place)) {
	if r.places.Load() == nil {
		var w Walker
		w.all(r)
		r.keep(&w)
	}
	r.places.Load().each(visit)
}

// keep makes the places of a walk those of the resource.
func (r *Resource) keep(w *Walker) {
	r.places.CompareAndSwap(nil, &arena[Place]{pieces: slices.Clone(w.places.pieces[:min(w.places.last+1, len(w.places.pieces))])})
	*w = Walker{}
}

// Walker walks over one resource after another. The places of many resources take as much memory as their messages, so it
// makes those of a resource where those of the one before were.
type Walker struct {
	places arena[Place]
	paths  arena[Path]
}

// Walk visits what Resource.Walk visits. It reports whether the places and their paths pass with the next Walk of the same Walker. If not, the
// resource keeps them.
func (w *Walker) Walk(r *Resource, visit func(*Place)) (passing bool) {
	if known := r.places.Load(); known != nil {
		known.each(visit)
		return false
	}
	w.all(r)
	w.places.each(visit)
	return true
}

// all finds all places of a resource.
func (w *Walker) all(r *Resource) {
	w.places.reset()
	w.paths.reset()
	if r.Message != nil {
		w.from(Place{Resource: r, Message: r.Message.ProtoReflect()})
	}
}

// from finds the places from p on.
func (w *Walker) from(p Place) {
	r, m := p.Resource, p.Message
	name := m.Descriptor().FullName()
	var content proto.Message
	if name == "google.protobuf.Any" {
		content = r.Contents[m.Interface()]
		p.Opaque = content == nil && m.Get(m.Descriptor().Fields().ByNumber(1)).String() != ""
	}
	at := w.places.add(p)
	if content != nil {
		w.from(Place{Resource: r, Parent: at, Message: content.ProtoReflect(), Path: at.Path})
		return
	}
	if decode.IsTypedStruct(name) {
		value := m.Get(m.Descriptor().Fields().ByName("value")).Message().Interface()
		if stood := r.Contents[value]; stood != nil {
			w.from(Place{Resource: r, Parent: at, Message: stood.ProtoReflect(), Path: at.Path.Field("value")})
		}
		return
	}
	static := r.Kind == Bootstrap && name == "envoy.config.bootstrap.v3.Bootstrap.StaticResources"
	decode.EachMessage(m, func(inner protoreflect.Message, step tree.Step) {
		if !static {
			w.from(Place{Resource: r, Parent: at, Message: inner, Path: w.paths.add(step.Onto(at.Path))})
		}
	})
}

// arena holds values that do not move. They are allocated in pieces, which a reset makes free for others.
type arena[T any] struct {
	pieces [][]T
	last   int // the piece that is filled
}

// largestPiece is how many values are allocated at once at most. Many resources have few places.
const largestPiece = 8

func (a *arena[T]) add(v T) *T {
	if a.last == len(a.pieces) {
		a.pieces = append(a.pieces, make([]T, 0, min(a.last+1, largestPiece)))
	}
	piece := append(a.pieces[a.last], v)
	a.pieces[a.last] = piece
	if len(piece) == cap(piece) {
		a.last++
	}
	return &piece[len(piece)-1]
}

func (a *arena[T]) each(visit func(*T)) {
	for _, piece := range a.pieces {
		for i := range piece {
			visit(&piece[i])
		}
	}
}

func (a *arena[T]) reset() {
	for i := range a.pieces[:min(a.last+1, len(a.pieces))] {
		a.pieces[i] = a.pieces[i][:0]
	}
	a.last = 0
}

// shape is the types of the messages in a resource, each once. Resources that have the same share it.
type shape []protoreflect.MessageDescriptor

// shaper finds the shapes of resources.
type shaper struct {
	of    shape    // the types that were seen since the last one
	known []*shape // the latest
}

// manyShapes is how many shapes are compared with that of the next resource.
const manyShapes = 16

func (s *shaper) see(md protoreflect.MessageDescriptor) {
	if !slices.Contains(s.of, md) {
		s.of = append(s.of, md)
	}
}

// shape returns the shape of what was seen.
func (s *shaper) shape() *shape {
	defer func() { s.of = s.of[:0] }()
	for _, known := range s.known {
		if slices.Equal(*known, s.of) {
			return known
		}
	}
	found := slices.Clone(s.of)
	s.known = append(s.known, &found)
	if len(s.known) > manyShapes {
		s.known = s.known[1:]
	}
	return &found
}

// has reports whether a message can be of a type: any can in a resource whose links are not known.
func (s *shape) has(name protoreflect.FullName) bool {
	return s == nil || slices.ContainsFunc(*s, func(md protoreflect.MessageDescriptor) bool { return md.FullName() == name })
}

// Enclosing returns the nearest place of a message type around this one, or this one itself. It returns nil if there is none.
func (p *Place) Enclosing(name protoreflect.FullName) *Place {
	for at := p; at != nil; at = at.Parent {
		if at.Message.Descriptor().FullName() == name {
			return at
		}
	}
	return nil
}
