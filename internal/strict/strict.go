// Package strict reads the files that people write for xdslint: its configuration, and route tests. A struct says which keys
// a map has, by the tags of its fields; a key that it does not have is an error with a place.
package strict

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/xdslint/xdslint/internal/nearest"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/syntax"
	"github.com/xdslint/xdslint/internal/tree"
	"github.com/xdslint/xdslint/internal/words"
)

// Reader fills structs from a file, and collects what is wrong with it.
type Reader struct {
	File   *source.File // nil: there is none
	Faults []*Fault
}

// Fault is an error in a file.
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
	return fmt.Sprintf("%s:%d:%d: %s", words.Name(f.File.Name), at.Line, at.Column, f.Message)
}

// Errorf notes an error at a place.
func (d *Reader) Errorf(span source.Span, format string, args ...any) {
	d.Faults = append(d.Faults, &Fault{d.File, span, fmt.Sprintf(format, args...)})
}

// Sort orders faults by place; they are found field by field.
func (d *Reader) Sort() {
	slices.SortStableFunc(d.Faults, func(a, b *Fault) int { return a.Span.Start - b.Span.Start })
}

// Err returns the faults as one error, or nil.
func (d *Reader) Err() error { return Join(d.Faults) }

// maxShown is how many faults are listed: a text of a megabyte can have 50,000, of 200 bytes each.
const maxShown = 50

// Join returns the first faults as one error, with the number of the others, or nil if there are none.
func Join(faults []*Fault) error {
	var errs []error
	for _, fault := range faults[:min(len(faults), maxShown)] {
		errs = append(errs, fault)
	}
	if more := len(faults) - maxShown; more > 0 {
		errs = append(errs, fmt.Errorf("and %d more", more))
	}
	return errors.Join(errs...)
}

// Document returns nil for a text that is empty, or neither YAML nor JSON.
func (d *Reader) Document() *tree.Node {
	parse := syntax.ParseYAML
	if strings.HasSuffix(d.File.Name, ".json") {
		parse = syntax.ParseJSON
	}
	docs, err := parse(d.File)
	var syntax *syntax.Error
	switch {
	case errors.As(err, &syntax):
		d.Errorf(syntax.Span, "%s", syntax.Message)
		return nil
	case err != nil:
		d.Errorf(source.Span{}, "%s", err)
		return nil
	case len(docs) == 0 || docs[0].Kind == tree.Null:
		return nil
	case len(docs) > 1:
		d.Errorf(docs[1].Span(), "the file must be a single document")
	}
	return docs[0]
}

// Decode fills a struct from a map, by the tags of its fields. A field of the type *tree.Node takes any value, with its place.
func (d *Reader) Decode(n *tree.Node, into any) { d.value(n, reflect.ValueOf(into).Elem(), "") }

func (d *Reader) value(n *tree.Node, v reflect.Value, name string) {
	if v.Type() == reflect.TypeFor[*tree.Node]() {
		v.Set(reflect.ValueOf(n))
		return
	}
	if n.Kind == tree.Null && name != "" {
		return // `paths:` without a value
	}
	wrong := func(want string) {
		if name == "" {
			d.Errorf(n.Span(), "got %s, want %s", n.Kind, want)
		} else {
			d.Errorf(n.Span(), "%s: got %s, want %s", name, n.Kind, want)
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
		d.Each(n, func(key tree.Key, item *tree.Node) {
			value := reflect.New(v.Type().Elem()).Elem()
			d.value(item, value, name+"."+key.Name)
			v.SetMapIndex(reflect.ValueOf(key.Name), value)
		})
	default:
		if want := d.scalar(n, v); want != "" {
			wrong(want)
		}
	}
}

// scalar sets a value without parts. If the node has another type, it returns the one that is wanted.
func (d *Reader) scalar(n *tree.Node, v reflect.Value) (want string) {
	switch v.Kind() {
	case reflect.Bool:
		if n.Kind != tree.Bool {
			return "true or false"
		}
		v.SetBool(n.Text == "true")
	case reflect.Uint64:
		number, err := strconv.ParseUint(n.Text, 10, 64)
		if err != nil {
			return "a number"
		}
		v.SetUint(number)
	default:
		switch {
		case n.Kind == tree.Bool && n.Plain && n.Text == "false": // YAML 1.1 readers read a bare `off` as false
			v.SetString(string(d.File.Text[n.Span().Start:n.Span().End]))
		case n.Kind != tree.String && n.Kind != tree.Number:
			return "a string"
		default:
			v.SetString(n.Text)
		}
	}
	return ""
}

// UnknownKey notes a key that is not among the names of the keys of its map.
func (d *Reader) UnknownKey(key tree.Key, names []string) {
	near := nearest.DidYouMean(key.Name, names)
	if near == "" {
		near = "; known keys: " + strings.Join(names, ", ")
	}
	d.Errorf(key.Span(), "unknown key %q%s", key.Name, near)
}

func (d *Reader) fields(n *tree.Node, v reflect.Value) {
	known := map[string]int{}
	var names []string
	for i := range v.NumField() {
		if name := v.Type().Field(i).Tag.Get("yaml"); name != "" && name != "-" {
			known[name] = i
			names = append(names, name)
		}
	}
	d.Each(n, func(key tree.Key, value *tree.Node) {
		if field, ok := known[key.Name]; ok {
			d.value(value, v.Field(field), key.Name)
		} else {
			d.UnknownKey(key, names)
		}
	})
}

// Each calls f with the keys and values of a map. A duplicate key is an error, and its last value counts, as for Node.Get.
func (d *Reader) Each(n *tree.Node, f func(key tree.Key, value *tree.Node)) {
	last := map[string]int{}
	for i, key := range n.Keys {
		if _, ok := last[key.Name]; ok {
			d.Errorf(key.Span(), "duplicate key %q", key.Name)
		}
		last[key.Name] = i
	}
	for i, key := range n.Keys {
		if last[key.Name] == i {
			f(key, &n.Items[i])
		}
	}
}
