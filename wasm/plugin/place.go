package plugin

import (
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/tree"
)

// pathIn parses a path, and checks that it leads to a field of the resource's message. The field need not be set.
func pathIn(r *graph.Resource, contents graph.Contents, text string) (*graph.Path, error) {
	path, err := tree.ParsePath(text)
	if err != nil {
		return nil, err
	}
	var steps []*graph.Path
	for step := path; step != nil; step = step.Parent() {
		steps = append(steps, step)
	}
	m := r.Message.ProtoReflect()
	for _, step := range slices.Backward(steps) {
		if m == nil {
			return nil, fmt.Errorf("%s is not a message", step.Parent())
		}
		if m, err = follow(opened(contents, m), step); err != nil {
			return nil, err
		}
	}
	return path, nil
}

// opened is the content of an Any or a TypedStruct, and the map or list in a Value. None of them is a step of a path.
func opened(contents graph.Contents, m protoreflect.Message) protoreflect.Message {
	for {
		if content := contents[m.Interface()]; content != nil {
			m = content.ProtoReflect()
			continue
		}
		if m.Descriptor().FullName() != "google.protobuf.Value" {
			return m
		}
		fd := m.WhichOneof(m.Descriptor().Oneofs().Get(0))
		if fd == nil || fd.Message() == nil {
			return m
		}
		m = m.Get(fd).Message()
	}
}

// follow takes the last step of a path; nil: it does not lead to a single message.
func follow(m protoreflect.Message, step *graph.Path) (protoreflect.Message, error) {
	fd := m.Descriptor().Fields().ByName(protoreflect.Name(step.Name()))
	if fd == nil {
		return nil, fmt.Errorf("%s has no field %s", m.Descriptor().FullName(), quoted(step.Name()))
	}
	value, key, entry := m.Get(fd), "", false
	key, entry = step.Key()
	switch {
	case entry && !fd.IsMap():
		return nil, fmt.Errorf("%s is not a map", fd.FullName())
	case entry:
		return under(value.Map(), fd, key), nil
	case step.Index() < 0:
		if fd.Message() != nil && !fd.IsList() && !fd.IsMap() {
			return value.Message(), nil
		}
		return nil, nil
	case !fd.IsList():
		return nil, fmt.Errorf("%s is not a list", fd.FullName())
	case step.Index() >= value.List().Len():
		return nil, fmt.Errorf("element %d does not exist: there are %d", step.Index(), value.List().Len())
	case fd.Message() != nil:
		return value.List().Get(step.Index()).Message(), nil
	}
	return nil, nil
}

// under returns the message under a key, or nil if there is none.
func under(entries protoreflect.Map, fd protoreflect.FieldDescriptor, key string) (found protoreflect.Message) {
	if fd.MapValue().Message() == nil {
		return nil
	}
	entries.Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
		if k.String() == key {
			found = v.Message()
		}
		return found == nil
	})
	return found
}

// parentOf returns the path of the message with the last field of a path, and that field.
func parentOf(path *graph.Path) (in *graph.Path, name string, err error) {
	if path == nil {
		return nil, "", errors.New("is the whole resource")
	}
	if key, ok := path.Key(); ok {
		return path.Parent().Field(path.Name()), key, nil
	}
	return path.Parent(), path.Name(), nil
}
