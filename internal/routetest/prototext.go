package routetest

import (
	"errors"
	"path/filepath"
	"reflect"
	"strings"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/syntax"
	"github.com/xdslint/xdslint/internal/tree"
)

// isProtoText reports whether a file is proto text, by its extension as router_check_tool does (MessageUtil::loadFromFile).
func isProtoText(f *source.File) bool {
	return strings.EqualFold(filepath.Ext(f.Name), ".pb_text")
}

// protoText reads a file of router_check_tool in proto text as if it were YAML, as far as the fields of a check go.
func (f *File) protoText() *tree.Node {
	docs, err := syntax.ParseProtoText(f.reader.File)
	if err != nil {
		var fault *syntax.Error
		if errors.As(err, &fault) {
			f.reader.Errorf(fault.Span, "%s", fault.Message)
		} else {
			f.reader.Errorf(source.Span{}, "%s", err)
		}
		return nil
	}
	asYAML(docs[0], reflect.TypeFor[checks]())
	return docs[0]
}

// asYAML makes what proto text has for a type what YAML would have: a list of what can be repeated, and words as numbers and booleans.
func asYAML(n *tree.Node, t reflect.Type) {
	switch t.Kind() {
	case reflect.Slice:
		if n.Kind != tree.List {
			*n = tree.Node{Kind: tree.List, Items: []tree.Node{*n}, Start: n.Start, End: n.End}
		}
		for i := range n.Items {
			asYAML(&n.Items[i], t.Elem())
		}
	case reflect.Struct:
		for i := range t.NumField() {
			if value := n.Get(t.Field(i).Tag.Get("yaml")); value != nil {
				asYAML(value, t.Field(i).Type)
			}
		}
	case reflect.Bool, reflect.Uint64:
		if n.Kind == tree.String {
			n.Kind = tree.Word(n.Text).Kind
		}
	}
}

// unwrapped returns the value in a StringValue or UInt32Value, as proto text has it: {value: "shop"}, where {} is the empty value.
func unwrapped(n *tree.Node) *tree.Node {
	if n == nil || n.Kind != tree.Map {
		return n
	}
	if value := n.Get("value"); value != nil {
		return value
	}
	return &tree.Node{Kind: tree.String, Start: n.Start, End: n.End}
}

// decodeText reads a message in proto text, which is between brackets.
func (r *runner) decodeText(n *tree.Node, m proto.Message) bool {
	if n.Kind != tree.Map || prototext.Unmarshal(r.File.Text[n.Start+1:n.End-1], m) != nil {
		r.Errorf(n.Span(), "this is not a %s in proto text", m.ProtoReflect().Descriptor().Name())
		return false
	}
	return true
}
