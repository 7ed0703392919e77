package version

import (
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/xdslint/xdslint/dataplane"
)

var suspectFields sync.Map // protoreflect.MessageDescriptor → []protoreflect.FieldDescriptor

// suspects lists the fields of a message type that are deprecated, or whose enum has deprecated values.
func suspects(md protoreflect.MessageDescriptor) []protoreflect.FieldDescriptor {
	if known, ok := suspectFields.Load(md); ok {
		return known.([]protoreflect.FieldDescriptor)
	}
	fields := []protoreflect.FieldDescriptor{}
	// Of the xds and cel APIs, Envoy may be built with an older version than the one here.
	own := strings.HasPrefix(string(md.FullName()), "envoy.")
	for i := range md.Fields().Len() {
		fd := md.Fields().Get(i)
		if own && (deprecated(fd.Options()) || fd.Enum() != nil && anyDeprecated(fd.Enum())) {
			fields = append(fields, fd)
		}
	}
	suspectFields.Store(md, fields)
	return fields
}

// suspect tells whether a message type has any.
func suspect(_ dataplane.Target, md protoreflect.MessageDescriptor) bool {
	return len(suspects(md)) > 0
}

func anyDeprecated(ed protoreflect.EnumDescriptor) bool {
	for i := range ed.Values().Len() {
		if deprecated(ed.Values().Get(i).Options()) {
			return true
		}
	}
	return false
}

// deprecated reads the option that protobuf itself has, as Envoy does.
func deprecated(options proto.Message) bool {
	switch o := options.(type) {
	case *descriptorpb.FieldOptions:
		return o.GetDeprecated()
	case *descriptorpb.EnumValueOptions:
		return o.GetDeprecated()
	}
	return false
}
