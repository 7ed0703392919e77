package decode

import (
	"google.golang.org/protobuf/reflect/protoreflect"
)

// entryList reads a map field as proto text writes it: messages with a key and a value.
func (d *Decoder) entryList(n *Node, m protoreflect.Message, fd protoreflect.FieldDescriptor, at *Path, depth int) {
	items := n.Items
	if n.Kind != List {
		items = []Node{*n}
	}
	for i := range items {
		item := &items[i]
		key, value := item.Get("key"), item.Get("value")
		if item.Kind != Map {
			d.problem(BadValue, item, at.Field(string(fd.Name())), "%s stands where a map entry belongs, which has a key and a value", item.Kind)
			continue
		}
		if key == nil {
			key = &Node{Kind: String, start: item.start, end: item.start}
		}
		if value == nil {
			value = &Node{Kind: Null, start: item.end, end: item.end}
		}
		d.entry(key, value, m, fd, at.Entry(string(fd.Name()), key.Text), depth+2)
	}
}
