// Package fieldtest checks in tests that findings point to fields that exist: a rule names them by strings.
package fieldtest

import (
	"fmt"
	"slices"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/tree"
	"github.com/xdslint/xdslint/lint"
)

// Check fails the test for each path of a finding, or of a related place, that leads to a field that the API does not have.
func Check(t testing.TB, found []lint.Diagnostic) {
	t.Helper()
	for i := range found {
		d := &found[i]
		if err := Exists(d.Resource, d.Path); err != nil {
			t.Errorf("%s points to %s of %s %q: %v", d.Rule.ID(), d.Path, d.Resource.Kind, d.Resource.Name, err)
		}
		for _, r := range d.Related {
			if err := Exists(r.Resource, r.Path); err != nil {
				t.Errorf("%s: %q points to %s of %s %q: %v", d.Rule.ID(), r.Message, r.Path, r.Resource.Kind, r.Resource.Name, err)
			}
		}
	}
}

// Exists follows a path from a resource's message, through every Any that the graph has opened. It stops at a field that the decoder has reported
// as unknown, at a Struct, which can contain anything, and at a file without a message, such as a Kubernetes object.
func Exists(r *graph.Resource, path *tree.Path) error {
	if r.Message == nil {
		return nil
	}
	m := r.Message.ProtoReflect()
	for _, step := range steps(path) {
		if reported(r, step) {
			return nil
		}
		if m == nil {
			return fmt.Errorf("%q is not a message", step.Parent())
		}
		if step.Name() == "@type" && m.Descriptor().FullName() == "google.protobuf.Any" {
			m = nil
			continue
		}
		m = opened(r, m)
		if m.Descriptor().FullName() == "google.protobuf.Struct" {
			return nil
		}
		fd := m.Descriptor().Fields().ByName(protoreflect.Name(step.Name()))
		if fd == nil {
			return fmt.Errorf("%s has no field %q", m.Descriptor().FullName(), step.Name())
		}
		var err error
		if m, err = value(m, fd, step); err != nil {
			return err
		}
	}
	return nil
}

// value returns the message that a step leads to, or nil.
func value(m protoreflect.Message, fd protoreflect.FieldDescriptor, step *tree.Path) (protoreflect.Message, error) {
	key, keyed := step.Key()
	i := step.Index()
	switch {
	case keyed && !fd.IsMap():
		return nil, fmt.Errorf("%s is not a map", fd.FullName())
	case i >= 0 && !fd.IsList():
		return nil, fmt.Errorf("%s is not a list", fd.FullName())
	case keyed:
		return entry(m.Get(fd).Map(), fd, key)
	case i >= 0:
		list := m.Get(fd).List()
		if i >= list.Len() {
			return nil, fmt.Errorf("%s has no element %d", fd.FullName(), i)
		}
		if fd.Message() == nil {
			return nil, nil
		}
		return list.Get(i).Message(), nil
	case fd.IsList(), fd.IsMap(), fd.Message() == nil:
		return nil, nil
	}
	return m.Get(fd).Message(), nil
}

func entry(entries protoreflect.Map, fd protoreflect.FieldDescriptor, key string) (found protoreflect.Message, err error) {
	err = fmt.Errorf("%s has no key %q", fd.FullName(), key)
	entries.Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
		if k.String() != key {
			return true
		}
		if err = nil; fd.MapValue().Message() != nil {
			found = v.Message()
		}
		return false
	})
	return found, err
}

// opened returns the content of an Any or of a TypedStruct's value, or else the message itself.
func opened(r *graph.Resource, m protoreflect.Message) protoreflect.Message {
	for {
		content := r.Contents[m.Interface()]
		if content == nil {
			return m
		}
		m = content.ProtoReflect()
	}
}

// reported reports whether the decoder has reported a field as unknown, or its value as invalid for its type.
func reported(r *graph.Resource, path *tree.Path) bool {
	return slices.ContainsFunc(r.Problems, func(p decode.Problem) bool { return p.Path.String() == path.String() })
}

// steps returns the beginnings of a path, the shortest first.
func steps(path *tree.Path) (all []*tree.Path) {
	for ; path != nil; path = path.Parent() {
		all = append(all, path)
	}
	slices.Reverse(all)
	return all
}
