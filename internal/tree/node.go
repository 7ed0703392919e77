package tree

import (
	"github.com/xdslint/xdslint/internal/source"
)

// MaxDepth is the number of maps and lists that protobuf's JSON reader allows around a value.
const MaxDepth = 100

// Kind is the kind of a Node, in JSON's terms.
type Kind uint8

// The kinds of nodes.
const (
	Null Kind = iota
	Bool
	Number
	String
	List
	Map
	Unread // a value in an outline, which nothing has read
)

var kindNames = [...]string{"null", "a boolean", "a number", "a string", "a list", "a map", "unread"}

func (k Kind) String() string { return kindNames[k] }

// Node is one value of a text in any format.
type Node struct {
	Kind  Kind
	Plain bool   // a YAML scalar without quotes, whose kind Envoy guesses from its text
	Bound bool   // its text cannot be changed by itself: an anchor, an alias or a tag is about it, or it is proto text
	Text  string // of a scalar; numbers and booleans in JSON's spelling
	Items []Node // of a list; of a map, the values of Keys in their order
	Keys  []Key  // of a map

	Start, End int32 // where it is in the text, in bytes; collections of YAML's block style end with their last child
}

// Key is the key of a map entry.
type Key struct {
	Name       string
	Start, End int32
}

// Span returns where the node is in its file.
func (n *Node) Span() source.Span { return source.Span{Start: int(n.Start), End: int(n.End)} }

// Span returns where the key is in its file.
func (k Key) Span() source.Span { return source.Span{Start: int(k.Start), End: int(k.End)} }

// Get returns the value under a key, or nil if there is none. If a key occurs more than once, the last one counts, as in Envoy.
func (n *Node) Get(name string) *Node {
	if i := n.entry(name); i >= 0 {
		return &n.Items[i]
	}
	return nil
}

// Key returns the key whose value Get returns, or nil if there is none.
func (n *Node) Key(name string) *Key {
	if i := n.entry(name); i >= 0 {
		return &n.Keys[i]
	}
	return nil
}

// Field returns the value of a proto field under either of its names in proto JSON, or nil if there is none.
func (n *Node) Field(name string) *Node {
	if i := n.field(name); i >= 0 {
		return &n.Items[i]
	}
	return nil
}

// With returns a copy of the map with another value for a proto field, which the map must have.
func (n *Node) With(name string, value Node) Node {
	changed := *n
	if i := n.field(name); i >= 0 {
		changed.Items = append([]Node(nil), n.Items...)
		changed.Items[i] = value
	}
	return changed
}

func (n *Node) entry(name string) int {
	for i := len(n.Keys) - 1; i >= 0; i-- {
		if n.Keys[i].Name == name {
			return i
		}
	}
	return -1
}

// field returns the index of a proto field's entry, under either of its names in proto JSON, or -1 if there is none.
func (n *Node) field(name string) int {
	json := ""
	for i := len(n.Keys) - 1; i >= 0; i-- {
		key := n.Keys[i].Name
		if key == name {
			return i
		}
		if json == "" {
			json = jsonName(name)
		}
		if key == json {
			return i
		}
	}
	return -1
}

// jsonName returns the lowerCamelCase name that protoc gives to a field.
func jsonName(name string) string {
	out := make([]byte, 0, len(name))
	up := false
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case c == '_':
			up = true
			continue
		case up && 'a' <= c && c <= 'z':
			c -= 'a' - 'A'
		}
		up = false
		out = append(out, c)
	}
	return string(out)
}

// Collections counts the maps and lists in n, each time that an alias repeats them.
func Collections(n *Node) int {
	if n.Kind != Map && n.Kind != List {
		return 0
	}
	count := 1
	for i := range n.Items {
		count += Collections(&n.Items[i])
	}
	return count
}

// Move changes the places of a node and everything below it, for a text that is part of another text. If bound is set, none of it can be edited there.
func (n *Node) Move(to func(source.Span) source.Span, bound bool) {
	move := func(start, end *int32) {
		span := to(source.Span{Start: int(*start), End: int(*end)})
		*start, *end = int32(span.Start), int32(span.End)
	}
	move(&n.Start, &n.End)
	n.Bound = n.Bound || bound
	for i := range n.Keys {
		move(&n.Keys[i].Start, &n.Keys[i].End)
	}
	for i := range n.Items {
		n.Items[i].Move(to, bound)
	}
}

// Wrap returns a map with n as its only value, under a key that the text does not have.
func (n *Node) Wrap(key string) *Node {
	return &Node{Kind: Map, Bound: true, Items: []Node{*n}, Keys: []Key{{Name: key, Start: n.Start, End: n.End}}, Start: n.Start, End: n.End}
}

// Location is the place in a text that a path leads to.
type Location struct {
	Key   source.Span // of the last field's key; zero for a list element
	Value source.Span
	Exact bool // false: the field is not there, Key and Value are those of its nearest ancestor that is
	Node  *Node
	In    *Node // whose element Index is the Node; nil for the root
	Index int
}

// Locate follows a path through the text that a message was decoded from.
func (n *Node) Locate(p *Path) Location {
	f := Location{Value: n.Span(), Exact: true, Node: n}
	for _, s := range p.steps() {
		at, i := n.through(s.name)
		if i < 0 {
			f.Exact = false
			return f
		}
		f.Key, f.Value = at.Keys[i].Span(), at.Items[i].Span()
		f.In, f.Index = at, i
		n = &at.Items[i]
		switch {
		case s.kind == itemStep && n.Kind == List:
			index := int(s.index)
			if index >= len(n.Items) {
				f.Exact = false
				return f
			}
			f.In, f.Index = n, index
			n = &n.Items[index]
			f.Key, f.Value = source.Span{}, n.Span()
		case s.kind == entryStep:
			key, value := n.mapEntry(s.key)
			if value == nil {
				f.Exact = false
				return f
			}
			f.In, f.Index = n, n.entry(s.key)
			f.Key, f.Value = key, value.Span()
			n = value
		}
		f.Node = n
	}
	return f
}

// mapEntry finds an entry of a map field. In proto text, entries are messages with a key and a value.
func (n *Node) mapEntry(name string) (key source.Span, value *Node) {
	if i := n.entry(name); i >= 0 {
		return n.Keys[i].Span(), &n.Items[i]
	}
	items := n.Items
	if n.Kind == Map {
		items = []Node{*n}
	}
	for i := range items {
		if k, v := items[i].Get("key"), items[i].Get("value"); k != nil && v != nil && k.Text == name {
			return k.Span(), v
		}
	}
	return source.Span{}, nil
}

// through finds the entry of a field, looking into the "value" of an Any that holds a well-known type.
func (n *Node) through(name string) (*Node, int) {
	i := n.field(name)
	if i < 0 && n.Get("@type") != nil {
		if j := n.field("value"); j >= 0 {
			return &n.Items[j], n.Items[j].field(name)
		}
	}
	return n, i
}
