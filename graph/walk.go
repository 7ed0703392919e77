package graph

import (
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
// first, then its content. It leaves out the static resources of a bootstrap, which are separate resources.
func (r *Resource) Walk(visit func(*Place)) {
	r.once.Do(func() {
		if r.Message != nil {
			r.walk(Place{Resource: r, Message: r.Message.ProtoReflect()}, r.add)
		}
	})
	for _, some := range r.places {
		for i := range some {
			visit(&some[i])
		}
	}
}

// placesAtOnce is how many places are allocated at once at most. Many resources have few.
const placesAtOnce = 8

// add adds a place to those of the resource, and moves none.
func (r *Resource) add(p Place) *Place {
	last := len(r.places) - 1
	if last < 0 || len(r.places[last]) == cap(r.places[last]) {
		last++
		r.places = append(r.places, make([]Place, 0, min(last+1, placesAtOnce)))
	}
	r.places[last] = append(r.places[last], p)
	return &r.places[last][len(r.places[last])-1]
}

// walk finds the places from p on. The pointers that keep returns are their parents.
func (r *Resource) walk(p Place, keep func(Place) *Place) {
	m := p.Message
	name := m.Descriptor().FullName()
	var content proto.Message
	if name == "google.protobuf.Any" {
		content = r.Contents[m.Interface()]
		p.Opaque = content == nil && m.Get(m.Descriptor().Fields().ByNumber(1)).String() != ""
	}
	at := keep(p)
	if content != nil {
		r.walk(Place{Resource: r, Parent: at, Message: content.ProtoReflect(), Path: at.Path}, keep)
		return
	}
	if decode.IsTypedStruct(name) {
		value := m.Get(m.Descriptor().Fields().ByName("value")).Message().Interface()
		if stood := r.Contents[value]; stood != nil {
			r.walk(Place{Resource: r, Parent: at, Message: stood.ProtoReflect(), Path: at.Path.Field("value")}, keep)
		}
		return
	}
	static := r.Kind == Bootstrap && name == "envoy.config.bootstrap.v3.Bootstrap.StaticResources"
	decode.EachMessage(m, func(inner protoreflect.Message, step tree.Step) {
		if !static {
			r.walk(Place{Resource: r, Parent: at, Message: inner, Path: step.After(at.Path)}, keep)
		}
	})
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
