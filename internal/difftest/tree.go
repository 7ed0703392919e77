package difftest

import (
	"slices"

	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/syntax"
	"github.com/xdslint/xdslint/internal/tree"
)

// value is a part of a configuration in text. Mutations change values, not messages, since most mistakes in a text
// cannot be expressed in a message.
type value struct {
	kind  tree.Kind
	text  string   // of a scalar
	keys  []string // of a map
	items []*value // of a list; of a map, in the order of keys
}

// parse parses a YAML or JSON text. It returns nil unless the text is exactly one valid document.
func parse(text []byte) *value {
	docs, err := syntax.ParseYAML(&source.File{Text: text})
	if err != nil || len(docs) != 1 {
		return nil
	}
	return fromNode(docs[0])
}

func fromNode(n *tree.Node) *value {
	v := &value{kind: n.Kind, text: n.Text}
	for _, key := range n.Keys {
		v.keys = append(v.keys, key.Name)
	}
	for i := range n.Items {
		v.items = append(v.items, fromNode(&n.Items[i]))
	}
	return v
}

func str(text string) *value { return &value{kind: tree.String, text: text} }

func number(text string) *value { return &value{kind: tree.Number, text: text} }

func list(items ...*value) *value { return &value{kind: tree.List, items: items} }

func object() *value { return &value{kind: tree.Map} }

func boolean(b bool) *value {
	if b {
		return &value{kind: tree.Bool, text: "true"}
	}
	return &value{kind: tree.Bool, text: "false"}
}

func (v *value) clone() *value {
	copied := *v
	copied.keys = slices.Clone(v.keys)
	copied.items = make([]*value, len(v.items))
	for i, item := range v.items {
		copied.items[i] = item.clone()
	}
	return &copied
}

func (v *value) equal(w *value) bool {
	return v.kind == w.kind && v.text == w.text && slices.Equal(v.keys, w.keys) &&
		slices.EqualFunc(v.items, w.items, (*value).equal)
}

// get returns the value under a key, or nil if there is none.
func (v *value) get(key string) *value {
	if i := slices.Index(v.keys, key); i >= 0 {
		return v.items[i]
	}
	return nil
}

func (v *value) set(key string, to *value) {
	if i := slices.Index(v.keys, key); i >= 0 {
		v.items[i] = to
		return
	}
	v.keys = append(v.keys, key)
	v.items = append(v.items, to)
}

// remove removes item i of a list or map.
func (v *value) remove(i int) {
	v.items = slices.Delete(v.items, i, i+1)
	if v.kind == tree.Map {
		v.keys = slices.Delete(v.keys, i, i+1)
	}
}

// each visits the value and everything in it. key is that of the nearest map around.
func (v *value) each(key string, f func(key string, v *value)) {
	f(key, v)
	for i, item := range v.items {
		if v.kind == tree.Map {
			key = v.keys[i]
		}
		item.each(key, f)
	}
}
