package grpctest

import (
	"math/rand/v2"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"
)

// Splice puts a part of another message into a message, in place of a part of the same type. Of two Anys of the same type, it may do so inside.
func Splice(r *rand.Rand, m, from proto.Message) {
	byType := map[protoreflect.FullName][]proto.Message{}
	for _, part := range parts(from.ProtoReflect()) {
		byType[part.Descriptor().FullName()] = append(byType[part.Descriptor().FullName()], part.Interface())
	}
	places := parts(m.ProtoReflect())
	for range 10 { // most parts have a counterpart
		if len(places) == 0 {
			return
		}
		to := places[r.IntN(len(places))]
		if all := byType[to.Descriptor().FullName()]; len(all) > 0 {
			replace(r, to.Interface(), all[r.IntN(len(all))])
			return
		}
	}
}

func replace(r *rand.Rand, to, part proto.Message) {
	any, isAny := to.(*anypb.Any)
	other, _ := part.(*anypb.Any)
	if isAny && any.GetTypeUrl() == other.GetTypeUrl() && r.IntN(4) > 0 {
		inner, err := any.UnmarshalNew()
		source, errOther := other.UnmarshalNew()
		if err == nil && errOther == nil {
			Splice(r, inner, source)
			if packed, err := anypb.New(inner); err == nil {
				any.Value = packed.Value
			}
			return
		}
	}
	made := proto.Clone(part)
	proto.Reset(to)
	proto.Merge(to, made)
}

// parts returns the messages below a message, in the order of its fields. It does not open Anys.
func parts(m protoreflect.Message) (all []protoreflect.Message) {
	add := func(part protoreflect.Message) { all = append(append(all, part), parts(part)...) }
	for _, fd := range given(m) {
		switch {
		case fd.Message() == nil || fd.IsMap():
		case fd.IsList():
			for i := range m.Get(fd).List().Len() {
				add(m.Get(fd).List().Get(i).Message())
			}
		default:
			add(m.Get(fd).Message())
		}
	}
	return all
}
