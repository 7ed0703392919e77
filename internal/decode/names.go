package decode

import (
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/internal/tree"
)

// CheckNames adds problems for the fields in the outline of a proto text that their messages do not have.
func (d *Decoder) CheckNames(n *tree.Node, md protoreflect.MessageDescriptor, at *tree.Path) {
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
			d.checkField(value, fd, at)
		case fd == nil && key.Name != "@type" && !md.ReservedNames().Has(protoreflect.Name(key.Name)):
			d.unknownField(key, value, md, at)
		}
	}
}

// checkField checks the messages in a field.
func (d *Decoder) checkField(n *tree.Node, fd protoreflect.FieldDescriptor, at *tree.Path) {
	name, items := string(fd.Name()), []tree.Node{*n}
	if n.Kind == tree.List {
		items = n.Items
	}
	for i := range items {
		item := &items[i]
		switch {
		case fd.IsMap():
			if key, value := item.Get("key"), item.Get("value"); key != nil && value != nil && fd.MapValue().Message() != nil {
				d.CheckNames(value, fd.MapValue().Message(), at.Entry(name, key.Text))
			}
		case fd.IsList():
			d.CheckNames(item, fd.Message(), at.Item(name, i))
		default:
			d.CheckNames(item, fd.Message(), at.Field(name))
		}
	}
}
