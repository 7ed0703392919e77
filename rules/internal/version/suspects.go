package version

import (
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/internal/fields"
)

// suspectField is a field that is deprecated, or whose enum has deprecated values.
type suspectField struct {
	fields.Field
	deprecated bool
	values     map[protoreflect.EnumNumber]protoreflect.EnumValueDescriptor // the deprecated ones
}

var suspectFields sync.Map // protoreflect.MessageDescriptor → []suspectField

// suspects returns the fields of a message type to look at.
func suspects(md protoreflect.MessageDescriptor) []suspectField {
	if known, ok := suspectFields.Load(md); ok {
		return known.([]suspectField)
	}
	found := []suspectField{}
	// Envoy may be built with an older version of the xds and cel APIs.
	own := strings.HasPrefix(string(md.FullName()), "envoy.")
	for i := range md.Fields().Len() {
		fd := md.Fields().Get(i)
		if !own {
			break
		}
		f := suspectField{Field: fields.One(fd), deprecated: deprecated(fd.Options())}
		if !fd.IsList() && !fd.IsMap() {
			f.values = deprecatedValues(fd.Enum())
		}
		if f.deprecated || len(f.values) > 0 {
			found = append(found, f)
		}
	}
	suspectFields.Store(md, found)
	return found
}

// suspect reports whether a message type has suspects.
func suspect(_ dataplane.Target, md protoreflect.MessageDescriptor) bool {
	return len(suspects(md)) > 0
}

// deprecatedValues returns the deprecated values of an enum, which may be nil.
func deprecatedValues(ed protoreflect.EnumDescriptor) map[protoreflect.EnumNumber]protoreflect.EnumValueDescriptor {
	if ed == nil {
		return nil
	}
	found := map[protoreflect.EnumNumber]protoreflect.EnumValueDescriptor{}
	for i := range ed.Values().Len() {
		if v := ed.Values().Get(i); deprecated(v.Options()) && v == ed.Values().ByNumber(v.Number()) { // not an alias
			found[v.Number()] = v
		}
	}
	return found
}

// deprecated reads protobuf's own option, as Envoy does.
func deprecated(options proto.Message) bool {
	switch o := options.(type) {
	case *descriptorpb.FieldOptions:
		return o.GetDeprecated()
	case *descriptorpb.EnumValueOptions:
		return o.GetDeprecated()
	}
	return false
}
