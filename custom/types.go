package custom

import (
	"fmt"
	"slices"

	"cel.dev/cel-go/cel"
	celtypes "cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/decode/types"
	"github.com/xdslint/xdslint/internal/nearest"
)

// typeSystem is CEL's view of messages. cel-go's own registry knows only types whose Go packages are linked in, and decodes only Anys of these. It is
// still used for types with a special form in CEL, such as durations and wrappers.
type typeSystem struct {
	celtypes.Provider
	celtypes.Adapter
	known graph.Types
}

// message returns the descriptor of a message, or nil if the type is not known.
func (t *typeSystem) message(name protoreflect.FullName) protoreflect.MessageDescriptor {
	mt, err := t.known.FindMessageByName(name)
	if err != nil {
		return nil
	}
	return mt.Descriptor()
}

// nearestMessage suggests a message for a name that is not known.
func (t *typeSystem) nearestMessage(name protoreflect.FullName) string {
	var all, alike []string // alike in all but the package
	types.Each(func(known, _ protoreflect.FullName) {
		all = append(all, string(known))
		if known.Name() == name.Name() {
			alike = append(alike, string(known))
		}
	})
	if len(alike) == 0 {
		return nearest.DidYouMean(string(name), all)
	}
	if near := nearest.DidYouMean(string(name), alike); near != "" {
		return near
	}
	return fmt.Sprintf(" (did you mean %q?)", slices.MinFunc(alike, func(a, b string) int { return len(a) - len(b) }))
}

func objectType(name protoreflect.FullName) *cel.Type { return cel.ObjectType(string(name)) }

// ownForm reports whether a message has a special form in CEL: a duration, a wrapper, a JSON value.
func ownForm(name protoreflect.FullName) bool {
	return decode.HasOwnJSON(name) && name != "google.protobuf.Empty" && name != "google.protobuf.FieldMask"
}

// fieldType returns the type of a field in CEL.
func (t *typeSystem) fieldType(fd protoreflect.FieldDescriptor) *cel.Type {
	switch {
	case fd.IsMap():
		return cel.MapType(singular(fd.MapKey()), singular(fd.MapValue()))
	case fd.IsList():
		return cel.ListType(singular(fd))
	}
	return singular(fd)
}

func singular(fd protoreflect.FieldDescriptor) *cel.Type {
	switch fd.Kind() {
	case protoreflect.BoolKind:
		return cel.BoolType
	case protoreflect.StringKind:
		return cel.StringType
	case protoreflect.BytesKind:
		return cel.BytesType
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		return cel.DoubleType
	case protoreflect.Uint32Kind, protoreflect.Uint64Kind, protoreflect.Fixed32Kind, protoreflect.Fixed64Kind:
		return cel.UintType
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return cel.ObjectType(string(fd.Message().FullName())) // which knows of durations, wrappers …
	}
	return cel.IntType // enums too
}

// FindStructType implements celtypes.Provider.
func (t *typeSystem) FindStructType(name string) (*celtypes.Type, bool) {
	if found, ok := t.Provider.FindStructType(name); ok {
		return found, ok
	}
	if isGraphType(name) || t.message(protoreflect.FullName(name)) != nil {
		return celtypes.NewTypeTypeWithParam(celtypes.NewObjectType(name)), true
	}
	return nil, false
}

// FindStructFieldNames implements celtypes.Provider.
func (t *typeSystem) FindStructFieldNames(name string) ([]string, bool) {
	if isGraphType(name) {
		return graphFieldNames(name), true
	}
	if md := t.message(protoreflect.FullName(name)); md != nil {
		return fieldNames(md), true
	}
	return t.Provider.FindStructFieldNames(name)
}

// FindStructFieldType implements celtypes.Provider.
func (t *typeSystem) FindStructFieldType(name, field string) (*celtypes.FieldType, bool) {
	if isGraphType(name) {
		return graphFieldType(name, field)
	}
	md := t.message(protoreflect.FullName(name))
	if md == nil {
		return t.Provider.FindStructFieldType(name, field)
	}
	fd := md.Fields().ByName(protoreflect.Name(field))
	if fd == nil {
		return nil, false
	}
	return &celtypes.FieldType{
		Type:    t.fieldType(fd),
		IsSet:   func(target any) bool { return has(target, field) },
		GetFrom: func(target any) (any, error) { return t.get(target, field) },
	}, true
}

// FindIdent implements celtypes.Provider. It finds enum values by the names of their enums (…Cluster.DiscoveryType.EDS), or as protos name them
// (…Cluster.EDS).
func (t *typeSystem) FindIdent(name string) (ref.Val, bool) {
	if found, ok := t.Provider.FindIdent(name); ok {
		return found, ok
	}
	if t.message(protoreflect.FullName(name)) != nil {
		return cel.ObjectType(name), true
	}
	if value := t.enumValue(protoreflect.FullName(name)); value != nil {
		return celtypes.Int(value.Number()), true
	}
	return nil, false
}

// EnumValue implements celtypes.Provider.
func (t *typeSystem) EnumValue(name string) ref.Val {
	if value := t.enumValue(protoreflect.FullName(name)); value != nil {
		return celtypes.Int(value.Number())
	}
	return t.Provider.EnumValue(name)
}

func (t *typeSystem) enumValue(name protoreflect.FullName) protoreflect.EnumValueDescriptor {
	if name.Parent() == "" || !name.IsValid() {
		return nil
	}
	if md := t.message(name.Parent()); md != nil {
		return valueIn(md.Enums(), name.Name())
	}
	if md := t.message(name.Parent().Parent()); md != nil {
		if enum := md.Enums().ByName(name.Parent().Name()); enum != nil {
			return enum.Values().ByName(name.Name())
		}
	}
	if d, err := types.Envoy.FindDescriptorByName(name.Parent()); err == nil {
		if enum, ok := d.(protoreflect.EnumDescriptor); ok {
			return enum.Values().ByName(name.Name())
		}
	}
	return nil
}

func valueIn(enums protoreflect.EnumDescriptors, name protoreflect.Name) protoreflect.EnumValueDescriptor {
	for i := range enums.Len() {
		if value := enums.Get(i).Values().ByName(name); value != nil {
			return value
		}
	}
	return nil
}

// NativeToValue implements celtypes.Adapter.
func (t *typeSystem) NativeToValue(v any) ref.Val {
	switch v := v.(type) {
	case ref.Val:
		return v
	case contained:
		return t.messageValue(v)
	case protoreflect.EnumNumber:
		return celtypes.Int(v)
	case resource:
		return object{t, resourcePrefix, v}
	case reference:
		return object{t, referenceName, v}
	case snapshot:
		return object{t, snapshotName, v}
	case references:
		return celtypes.NewList(adapterIn{t, v.in}, v.edges)
	case resources:
		return celtypes.NewList(adapterIn{t, v.in}, v.all)
	}
	return t.Adapter.NativeToValue(v)
}

// adapterIn converts the parts of a snapshot, each when an expression reads it.
type adapterIn struct {
	*typeSystem
	in graph.View
}

// NativeToValue implements celtypes.Adapter.
func (a adapterIn) NativeToValue(v any) ref.Val {
	switch v := v.(type) {
	case *graph.Resource:
		return a.typeSystem.NativeToValue(resource{v, a.in})
	case *graph.Edge:
		return a.typeSystem.NativeToValue(reference{v, a.in})
	}
	return a.typeSystem.NativeToValue(v)
}

func (t *typeSystem) messageValue(in contained) ref.Val {
	packed, ok := in.m.(*anypb.Any)
	if ok {
		in.m = t.open(packed, in.contents)
	}
	if in.m != proto.Message(packed) && ownForm(in.m.ProtoReflect().Descriptor().FullName()) {
		return t.Adapter.NativeToValue(in.m)
	}
	return message{in, t}
}

// open returns the content of an Any, or the Any itself if the type is not known.
func (t *typeSystem) open(packed *anypb.Any, contents graph.Contents) proto.Message {
	if content := contents[packed]; content != nil {
		return content
	}
	mt, err := t.known.FindMessageByName(decode.TypeName(packed.GetTypeUrl()))
	if err != nil {
		return packed
	}
	content := mt.New().Interface()
	if err := (proto.UnmarshalOptions{AllowPartial: true}).Unmarshal(packed.GetValue(), content); err != nil {
		return packed
	}
	return content
}
