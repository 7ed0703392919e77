// Package types finds the message types of Envoy's v3 API by name. A type whose Go package is linked into the program is
// that Go type; every other is made of its descriptor when it is first asked for. So a program starts in a few
// milliseconds although it knows every extension: registering all of go-control-plane's packages takes ten.
package types

import (
	_ "embed"
	"sync"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/runtime/protoimpl"
	"google.golang.org/protobuf/types/dynamicpb"
)

//go:generate go run generate.go

//go:embed envoy.binpb
var descriptors []byte

// Registry finds the types of Envoy's v3 API: messages for decoding, and files and declarations for descriptors that
// import them. It is safe for concurrent use.
type Registry struct {
	files    sync.Map // path → func() protoreflect.FileDescriptor
	messages sync.Map // protoreflect.FullName → protoreflect.MessageType
}

// Envoy is the only registry, since descriptors are compared by identity.
var Envoy = &Registry{}

// FindMessageByName returns the Go type if it is linked in, otherwise a dynamic type. It returns protoregistry.NotFound
// if Envoy's API does not have the message.
func (r *Registry) FindMessageByName(name protoreflect.FullName) (protoreflect.MessageType, error) {
	if mt, err := protoregistry.GlobalTypes.FindMessageByName(name); err == nil {
		return mt, nil
	}
	if mt, ok := r.messages.Load(name); ok {
		return mt.(protoreflect.MessageType), nil
	}
	d, err := r.FindDescriptorByName(name)
	if err != nil {
		return nil, err
	}
	md, ok := d.(protoreflect.MessageDescriptor)
	if !ok {
		return nil, protoregistry.NotFound
	}
	mt, _ := r.messages.LoadOrStore(name, dynamicpb.NewMessageType(md))
	return mt.(protoreflect.MessageType), nil
}

// FindFileByPath returns the descriptor of a file of the API. Its parts are created on first use.
func (r *Registry) FindFileByPath(path string) (protoreflect.FileDescriptor, error) {
	if fd, err := protoregistry.GlobalFiles.FindFileByPath(path); err == nil {
		return fd, nil
	}
	descriptor := raw(path)
	if descriptor == nil {
		return nil, protoregistry.NotFound
	}
	fd, _ := r.files.LoadOrStore(path, sync.OnceValue(func() protoreflect.FileDescriptor {
		return protoimpl.DescBuilder{RawDescriptor: descriptor, FileRegistry: r}.Build().File
	}))
	return fd.(func() protoreflect.FileDescriptor)(), nil
}

// FindDescriptorByName returns the descriptor of a message or enum of the API.
func (r *Registry) FindDescriptorByName(name protoreflect.FullName) (protoreflect.Descriptor, error) {
	if d, err := protoregistry.GlobalFiles.FindDescriptorByName(name); err == nil {
		return d, nil
	}
	fd, err := r.FindFileByPath(fileOf(name))
	if err != nil {
		return nil, err
	}
	if d := find(fd, name); d != nil {
		return d, nil
	}
	return nil, protoregistry.NotFound
}

// RegisterFile is called by protoimpl.DescBuilder when it has built a file. FindFileByPath keeps the file.
func (r *Registry) RegisterFile(protoreflect.FileDescriptor) error { return nil }

// scope is a file or a message, which can declare messages and enums.
type scope interface {
	FullName() protoreflect.FullName
	Messages() protoreflect.MessageDescriptors
	Enums() protoreflect.EnumDescriptors
}

func find(in scope, name protoreflect.FullName) protoreflect.Descriptor {
	if name.Parent() == in.FullName() {
		if md := in.Messages().ByName(name.Name()); md != nil {
			return md
		}
		if ed := in.Enums().ByName(name.Name()); ed != nil {
			return ed
		}
		return nil
	}
	if len(name.Parent()) <= len(in.FullName()) {
		return nil
	}
	if outer, ok := find(in, name.Parent()).(protoreflect.MessageDescriptor); ok {
		return find(outer, name)
	}
	return nil
}
