// Package kube reads what Kubernetes objects say about the containers that run Envoy: their command lines, volumes, limits and ports. It reads the
// few fields that matter here from the tree of a text, so that findings can point to them.
package kube

import (
	"iter"
	"strconv"
	"strings"

	"github.com/xdslint/xdslint/internal/tree"
)

// Value is a value in an object, and its path there. The zero Value is one that the object does not have.
type Value struct {
	node *tree.Node
	path *tree.Path
}

// ValueOf returns the value that an object is.
func ValueOf(object *tree.Node) Value { return Value{node: object} }

// Exists reports whether the object has the value.
func (v Value) Exists() bool { return v.node != nil && v.node.Kind != tree.Null }

// Is reports whether the value is this node.
func (v Value) Is(n *tree.Node) bool { return v.node == n }

// Node returns the value in the tree of the object; nil if the object does not have it.
func (v Value) Node() *tree.Node { return v.node }

// Path returns the path from the object.
func (v Value) Path() *tree.Path { return v.path }

// Field returns the value under keys, one in the other.
func (v Value) Field(keys ...string) Value {
	for _, key := range keys {
		if v.node == nil {
			return Value{}
		}
		v = Value{v.node.Get(key), v.path.Field(key)}
	}
	return v
}

// Items returns the elements of a list.
func (v Value) Items() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if v.node == nil || v.node.Kind != tree.List {
			return
		}
		for i := range v.node.Items {
			if !yield(Value{&v.node.Items[i], v.path.Parent().Item(v.path.Name(), i)}) {
				return
			}
		}
	}
}

// Keys returns the keys of a map.
func (v Value) Keys() []string {
	if v.node == nil {
		return nil
	}
	var keys []string
	for _, key := range v.node.Keys {
		keys = append(keys, key.Name)
	}
	return keys
}

// Text returns a scalar as a text; empty if there is none.
func (v Value) Text() string {
	if v.node == nil {
		return ""
	}
	return v.node.Text
}

// Int returns a number. ok is false if the value is not one.
func (v Value) Int() (n int, ok bool) {
	n, err := strconv.Atoi(v.Text())
	return n, err == nil
}

// True reports whether the value is true.
func (v Value) True() bool { return v.Text() == "true" }

// named returns the element of a list with this name.
func (v Value) named(name string) Value {
	for item := range v.Items() {
		if item.Field("name").Text() == name {
			return item
		}
	}
	return Value{}
}

// fixed reports whether a text has its final value: neither Kubernetes nor a shell replaces a variable in it.
func fixed(text string) bool { return !strings.Contains(text, "$") }
