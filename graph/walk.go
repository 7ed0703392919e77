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
			r.walk(&Place{Resource: r, Message: r.Message.ProtoReflect()}, func(at *Place) { r.places = append(r.places, at) })
		}
	})
	for _, at := range r.places {
		visit(at)
	}
}

func (r *Resource) walk(at *Place, visit func(*Place)) {
	m := at.Message
	name := m.Descriptor().FullName()
	var content proto.Message
	if name == "google.protobuf.Any" {
		content = r.Contents[m.Interface()]
		at.Opaque = content == nil && m.Get(m.Descriptor().Fields().ByNumber(1)).String() != ""
	}
	visit(at)
	if content != nil {
		r.walk(&Place{Resource: r, Parent: at, Message: content.ProtoReflect(), Path: at.Path}, visit)
		return
	}
	if decode.IsTypedStruct(name) {
		value := m.Get(m.Descriptor().Fields().ByName("value")).Message().Interface()
		if stood := r.Contents[value]; stood != nil {
			r.walk(&Place{Resource: r, Parent: at, Message: stood.ProtoReflect(), Path: at.Path.Field("value")}, visit)
		}
		return
	}
	static := r.Kind == Bootstrap && name == "envoy.config.bootstrap.v3.Bootstrap.StaticResources"
	decode.EachMessage(m, func(inner protoreflect.Message, step tree.Step) {
		if !static {
			r.walk(&Place{Resource: r, Parent: at, Message: inner, Path: step.After(at.Path)}, visit)
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
