package envoy

import (
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/graph"
)

// Equivalent compares two messages as MessageDifferencer::Equivalent does: an unset field equals its default.
func Equivalent(a, b *graph.Place) bool {
	return differencer{equalLists}.equal(side{a.Resource, a.Message}, side{b.Resource, b.Message})
}

// side is a message of a resource.
type side struct {
	resource *graph.Resource
	message  protoreflect.Message
}

// differencer is a MessageDifferencer with EQUIVALENT, and with a way to compare lists.
type differencer struct {
	lists func(x, y protoreflect.List, same func(x, y protoreflect.Value) bool) bool
}

// ofListeners compares as ListenerMessageUtil::filterChainOnlyChange does, where the order of lists does not matter.
var ofListeners = differencer{equalSets}

func (d differencer) equal(a, b side) bool {
	if a.message.Descriptor() != b.message.Descriptor() {
		return false
	}
	if a.message.Descriptor().FullName() == "google.protobuf.Any" {
		x, y := a.content(), b.content()
		if x == nil || y == nil {
			return proto.Equal(a.message.Interface(), b.message.Interface())
		}
		return d.equal(side{a.resource, x.ProtoReflect()}, side{b.resource, y.ProtoReflect()})
	}
	same := true
	compare := func(fd protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		same = same && d.field(fd, a, b)
		return same
	}
	a.message.Range(compare)
	b.message.Range(compare)
	return same
}

func (s side) content() proto.Message { return s.resource.Contents[s.message.Interface()] }

func (d differencer) field(fd protoreflect.FieldDescriptor, a, b side) bool {
	x, y := a.message.Get(fd), b.message.Get(fd)
	same := func(x, y protoreflect.Value) bool { return x.Equal(y) }
	if fd.IsMap() && fd.MapValue().Message() != nil || !fd.IsMap() && fd.Message() != nil {
		same = func(x, y protoreflect.Value) bool {
			return d.equal(side{a.resource, x.Message()}, side{b.resource, y.Message()})
		}
	}
	switch {
	case fd.IsList():
		return d.lists(x.List(), y.List(), same)
	case fd.IsMap():
		return equalMaps(x.Map(), y.Map(), same)
	}
	return !a.message.Has(fd) && !b.message.Has(fd) || same(x, y)
}

func equalLists(x, y protoreflect.List, same func(x, y protoreflect.Value) bool) bool {
	if x.Len() != y.Len() {
		return false
	}
	for i := range x.Len() {
		if !same(x.Get(i), y.Get(i)) {
			return false
		}
	}
	return true
}

func equalSets(x, y protoreflect.List, same func(x, y protoreflect.Value) bool) bool {
	if x.Len() != y.Len() {
		return false
	}
	rest := make([]protoreflect.Value, y.Len())
	for i := range rest {
		rest[i] = y.Get(i)
	}
	for i := range x.Len() {
		at := slices.IndexFunc(rest, func(v protoreflect.Value) bool { return same(x.Get(i), v) })
		if at < 0 {
			return false
		}
		rest = slices.Delete(rest, at, at+1)
	}
	return true
}

func equalMaps(x, y protoreflect.Map, same func(x, y protoreflect.Value) bool) bool {
	equal := x.Len() == y.Len()
	x.Range(func(key protoreflect.MapKey, value protoreflect.Value) bool {
		equal = equal && y.Has(key) && same(value, y.Get(key))
		return equal
	})
	return equal
}
