package transitions

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"
)

// rewrite calls edit for each message of a tree, from the top down, and encodes the contents of Anys again. Equal trees stay equal.
func rewrite(m proto.Message, edit func(proto.Message)) {
	if packed, ok := m.(*anypb.Any); ok {
		content, err := packed.UnmarshalNew()
		if err != nil {
			return // of a type of the user's own
		}
		rewrite(content, edit)
		// It has just been read, so it can be written.
		_ = anypb.MarshalFrom(packed, content, proto.MarshalOptions{Deterministic: true})
		return
	}
	edit(m)
	m.ProtoReflect().Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case fd.IsMap() && fd.MapValue().Message() != nil:
			v.Map().Range(func(_ protoreflect.MapKey, inner protoreflect.Value) bool {
				rewrite(inner.Message().Interface(), edit)
				return true
			})
		case fd.IsList() && fd.Message() != nil:
			for i := range v.List().Len() {
				rewrite(v.List().Get(i).Message().Interface(), edit)
			}
		case !fd.IsMap() && !fd.IsList() && fd.Message() != nil:
			rewrite(v.Message().Interface(), edit)
		}
		return true
	})
}

// each calls visit for each message of type M in a tree.
func each[M proto.Message](m proto.Message, visit func(M)) {
	rewrite(proto.Clone(m), func(inner proto.Message) {
		if found, ok := inner.(M); ok {
			visit(found)
		}
	})
}
