package load

import (
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/decode/types"
)

// chain looks up a type in several registries, in order.
type chain []decode.Types

func (c chain) FindMessageByName(name protoreflect.FullName) (protoreflect.MessageType, error) {
	for _, types := range c {
		if mt, err := types.FindMessageByName(name); err == nil {
			return mt, nil
		}
	}
	return nil, protoregistry.NotFound
}

// Descriptors returns the types of a FileDescriptorSet in addition to those of Envoy's API, so that Anys of custom
// extensions can be decoded. Files of Envoy's API are taken from the API itself; other files that the set lacks are left unresolved.
func Descriptors(raw []byte) (decode.Types, error) {
	set := &descriptorpb.FileDescriptorSet{}
	if err := proto.Unmarshal(raw, set); err != nil {
		return nil, fmt.Errorf("this is not a FileDescriptorSet: %w", err)
	}
	r := &resolver{byPath: map[string]*descriptorpb.FileDescriptorProto{}, busy: map[string]bool{}}
	for _, file := range set.GetFile() {
		r.byPath[file.GetName()] = file
	}
	found := new(protoregistry.Types)
	for _, file := range set.GetFile() {
		fd, err := r.FindFileByPath(file.GetName())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file.GetName(), err)
		}
		if known, err := types.Envoy.FindFileByPath(file.GetName()); err == nil && known == fd {
			continue
		}
		if err := register(found, fd.Messages()); err != nil {
			return nil, err
		}
	}
	return chain{types.Envoy, found}, nil
}

func register(found *protoregistry.Types, messages protoreflect.MessageDescriptors) error {
	for i := range messages.Len() {
		md := messages.Get(i)
		if md.IsMapEntry() {
			continue
		}
		if err := found.RegisterMessage(dynamicpb.NewMessageType(md)); err != nil {
			return err
		}
		if err := register(found, md.Messages()); err != nil {
			return err
		}
	}
	return nil
}

// resolver builds the descriptors of files in the order of their imports.
type resolver struct {
	made   protoregistry.Files
	byPath map[string]*descriptorpb.FileDescriptorProto
	busy   map[string]bool
}

func (r *resolver) FindFileByPath(path string) (protoreflect.FileDescriptor, error) {
	if fd, err := types.Envoy.FindFileByPath(path); err == nil {
		return fd, nil
	}
	if fd, err := r.made.FindFileByPath(path); err == nil {
		return fd, nil
	}
	file := r.byPath[path]
	if file == nil || r.busy[path] { // missing, or a loop of imports
		return nil, protoregistry.NotFound
	}
	r.busy[path] = true
	fd, err := (protodesc.FileOptions{AllowUnresolvable: true}).New(file, r)
	if err != nil {
		return nil, err
	}
	return fd, r.made.RegisterFile(fd)
}

func (r *resolver) FindDescriptorByName(name protoreflect.FullName) (protoreflect.Descriptor, error) {
	if d, err := r.made.FindDescriptorByName(name); err == nil {
		return d, nil
	}
	return types.Envoy.FindDescriptorByName(name)
}
