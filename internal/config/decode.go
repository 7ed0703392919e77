package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/internal/nearest"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/syntax"
	"github.com/xdslint/xdslint/internal/tree"
)

// node adds lookups to the tree of a text.
type node struct{ *tree.Node }

// at returns the span of element i of a key's list; with -1, of the value.
func (n *node) at(key string, i int) source.Span {
	value := n.Get(key)
	if value == nil {
		return n.Span()
	}
	if i >= 0 && i < len(value.Items) {
		return value.Items[i].Span()
	}
	return value.Span()
}

// entry returns the span of the value of a key in a map.
func (n *node) entry(name, key string) source.Span {
	inner := node{n.Get(name)}
	return inner.at(key, -1)
}

// key returns the span of a key in a map.
func (n *node) key(name, key string) source.Span {
	for _, k := range n.Get(name).Keys {
		if k.Name == key {
			return k.Span()
		}
	}
	return n.at(name, -1)
}

// decoder fills structs from a text, and rejects unknown keys.
type decoder struct {
	file   *source.File
	faults []*Fault
}

// Fault is an error in a configuration.
type Fault struct {
	File    *source.File // nil: not from a file
	Span    source.Span
	Message string
}

func (f *Fault) Error() string {
	if f.File == nil {
		return f.Message
	}
	at := f.File.Position(f.Span.Start)
	return fmt.Sprintf("%s:%d:%d: %s", f.File.Name, at.Line, at.Column, f.Message)
}

func (d *decoder) errorf(span source.Span, format string, args ...any) {
	d.faults = append(d.faults, &Fault{d.file, span, fmt.Sprintf(format, args...)})
}

func (d *decoder) add(faults ...*Fault) { d.faults = append(d.faults, faults...) }

// sort orders faults by place; they are found field by field.
func (d *decoder) sort() {
	slices.SortStableFunc(d.faults, func(a, b *Fault) int { return a.Span.Start - b.Span.Start })
}

// document returns nil for a text that is empty or not YAML.
func (d *decoder) document() *node {
	docs, err := syntax.ParseYAML(d.file)
	var syntax *syntax.Error
	switch {
	case errors.As(err, &syntax):
		d.errorf(syntax.Span, "%s", syntax.Message)
		return nil
	case err != nil:
		d.errorf(source.Span{}, "%s", err)
		return nil
	case len(docs) == 0 || docs[0].Kind == tree.Null:
		return nil
	case len(docs) > 1:
		d.errorf(docs[1].Span(), "a configuration must be a single document")
	}
	return &node{docs[0]}
}

func (d *decoder) decode(n *node, into any) { d.value(n.Node, reflect.ValueOf(into).Elem(), "") }

func (d *decoder) value(n *tree.Node, v reflect.Value, name string) {
	if n.Kind == tree.Null && name != "" {
		return // `paths:` without a value
	}
	wrong := func(want string) {
		if name == "" {
			d.errorf(n.Span(), "got %s, want %s", n.Kind, want)
		} else {
			d.errorf(n.Span(), "%s: got %s, want %s", name, n.Kind, want)
		}
	}
	switch v.Kind() {
	case reflect.Struct:
		if n.Kind != tree.Map {
			wrong("a map")
			return
		}
		d.fields(n, v)
	case reflect.Slice:
		if n.Kind != tree.List {
			wrong("a list")
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), len(n.Items), len(n.Items)))
		for i := range n.Items {
			d.value(&n.Items[i], v.Index(i), name)
		}
	case reflect.Map:
		if n.Kind != tree.Map {
			wrong("a map")
			return
		}
		v.Set(reflect.MakeMap(v.Type()))
		for i, key := range n.Keys {
			value := reflect.New(v.Type().Elem()).Elem()
			d.value(&n.Items[i], value, name+"."+key.Name)
			v.SetMapIndex(reflect.ValueOf(key.Name), value)
		}
	default:
		// YAML 1.1 readers read a bare `off` as false.
		if n.Kind == tree.Bool && n.Plain && n.Text == "false" {
			text := string(d.file.Text[n.Span().Start:n.Span().End])
			v.SetString(text)
			return
		}
		if n.Kind != tree.String && n.Kind != tree.Number {
			wrong("a string")
			return
		}
		v.SetString(n.Text)
	}
}

func (d *decoder) fields(n *tree.Node, v reflect.Value) {
	known := map[string]int{}
	var names []string
	for i := range v.NumField() {
		if name := v.Type().Field(i).Tag.Get("yaml"); name != "" && name != "-" {
			known[name] = i
			names = append(names, name)
		}
	}
	seen := map[string]bool{}
	for i, key := range n.Keys {
		field, ok := known[key.Name]
		switch {
		case !ok:
			near := nearest.DidYouMean(key.Name, names)
			if near == "" {
				near = "; known keys: " + strings.Join(names, ", ")
			}
			d.errorf(key.Span(), "unknown key %q%s", key.Name, near)
		case seen[key.Name]:
			d.errorf(key.Span(), "duplicate key %q", key.Name)
		default:
			d.value(&n.Items[i], v.Field(field), key.Name)
		}
		seen[key.Name] = true
	}
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
