package decode

import (
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/internal/tree"
)

// CheckNames adds problems for the fields in the outline of a proto text that their messages do not have.
func (d *Decoder) CheckNames(n *tree.Node, md protoreflect.MessageDescriptor) {
	if url := n.Get("@type"); url != nil {
		mt, err := d.Types.FindMessageByName(TypeName(url.Text))
		if err != nil {
			return
		}
		md = mt.Descriptor()
	}
	for i := range n.Keys {
		key, value := &n.Keys[i], &n.Items[i]
		fd := md.Fields().ByTextName(key.Name)
		switch {
		case fd != nil && fd.Message() != nil:
			d.checkField(value, fd)
		case fd == nil && key.Name != "@type" && !md.ReservedNames().Has(protoreflect.Name(key.Name)):
			d.unknownField(key, value, md)
		}
	}
}

// checkField checks the messages in a field.
func (d *Decoder) checkField(n *tree.Node, fd protoreflect.FieldDescriptor) {
	name, items := string(fd.Name()), []tree.Node{*n}
	if n.Kind == tree.List {
		items = n.Items
	}
	for i := range items {
		item := &items[i]
		switch {
		case fd.IsMap():
			if key, value := item.Get("key"), item.Get("value"); key != nil && value != nil && fd.MapValue().Message() != nil {
				d.checkIn(tree.ToEntry(name, key.Text), value, fd.MapValue().Message())
			}
		case fd.IsList():
			d.checkIn(tree.ToItem(name, i), item, fd.Message())
		default:
			d.checkIn(tree.ToField(name), item, fd.Message())
		}
	}
}

func (d *Decoder) checkIn(step tree.Step, n *tree.Node, md protoreflect.MessageDescriptor) {
	d.enter(step)
	d.CheckNames(n, md)
	d.leave()
}
