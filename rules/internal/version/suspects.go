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

// suspects returns the fields of a message type that are deprecated, or whose enum has deprecated values.
func suspects(md protoreflect.MessageDescriptor) []protoreflect.FieldDescriptor {
	if known, ok := suspectFields.Load(md); ok {
		return known.([]protoreflect.FieldDescriptor)
	}
	fields := []protoreflect.FieldDescriptor{}
	// Envoy may be built with an older version of the xds and cel APIs.
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

// suspect reports whether a message type has suspects.
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
