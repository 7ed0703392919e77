package redact

import (
	"encoding/base64"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/tree"
)

// JSON returns the JSON text that n was read from, with Redaction in place of each secret: by the fields of the message of that
// name, and of those inside it, in any Any or TypedStruct; by the names of keys where a message is not known; and
// by their looks anywhere. All else stays as it is, to the byte.
func JSON(text []byte, n *tree.Node, message protoreflect.FullName, types decode.Types) []byte {
	r := &redactor{text: text, types: types}
	r.named(n, message)
	return r.apply()
}

// redactor walks what was read of a text, and notes what to change in it.
type redactor struct {
	text   []byte
	types  decode.Types
	edits  []edit
	values []string // of secrets, which may also be elsewhere
	short  bool     // those of sensitive fields count from minMarked on
	told   apart
}

// named redacts a value of the message type of that name, or if the type is not known, by the names of its keys.
func (r *redactor) named(n *tree.Node, name protoreflect.FullName) {
	if mt, err := r.types.FindMessageByName(name); err == nil {
		r.message(n, mt.Descriptor())
	} else {
		r.unknown(n, "")
	}
}

func (r *redactor) message(n *tree.Node, md protoreflect.MessageDescriptor) {
	name := md.FullName()
	switch {
	case (n.Kind == tree.String || n.Kind == tree.List) && !decode.HasOwnJSON(name) && len(shapeOf(md).fields) > 0:
		r.leaves(n, true) // not a message, but written where one with secrets belongs
	case n.Kind != tree.Map:
		r.unknown(n, "") // a wrapper, a duration, or not a value of the type
	case name == "google.protobuf.Any":
		r.any(n)
	case name.Parent() == "google.protobuf":
		r.unknown(n, "")
	case decode.IsTypedStruct(name):
		r.typedStruct(n)
	default:
		r.fields(n, md)
	}
}

func (r *redactor) any(n *tree.Node) {
	url := n.Get("@type")
	if url == nil {
		r.unknown(n, "")
		return
	}
	name := decode.TypeName(url.Text)
	if name == "google.protobuf.Any" {
		r.unknown(n, "") // an Any that holds an Any has that one under value; this one is not its own content
		return
	}
	if _, err := r.types.FindMessageByName(name); err != nil {
		r.opaque(n.Get("value"))
	}
	r.named(n, name)
}

// opaque redacts the bytes of an Any that cannot be opened: what is in them is not known.
func (r *redactor) opaque(value *tree.Node) {
	if value == nil || value.Kind != tree.String || len(value.Text) < 2*minValue {
		return
	}
	if _, err := base64.StdEncoding.DecodeString(value.Text); err == nil {
		r.put(value, encodedRedaction, false)
	}
}

func (r *redactor) typedStruct(n *tree.Node) {
	url := n.Field("type_url")
	for i := range n.Items {
		if item := &n.Items[i]; item.Kind == tree.Map && url != nil {
			r.named(item, decode.TypeName(url.Text))
		} else {
			r.unknown(item, n.Keys[i].Name)
		}
	}
}

func (r *redactor) fields(n *tree.Node, md protoreflect.MessageDescriptor) {
	shape := shapeOf(md)
	credential := shape.pair.in(n)
	for i := range n.Items {
		key, item := n.Keys[i].Name, &n.Items[i]
		fd := decode.FieldNamed(md.Fields(), key)
		switch {
		case fd == nil:
			r.entry(item, key, "")
		case shape.has(fd):
			r.hide(item, fd)
		case credential && shape.pair.isValue(fd):
			r.told.on = shape.pair.matches
			r.hide(item, fd)
			r.told.on = false
		case slices.Contains(shape.maps, fd):
			r.unknown(item, key)
		default:
			r.each(item, fd, r.value)
		}
	}
}

// each calls f for each value of a field.
func (r *redactor) each(n *tree.Node, fd protoreflect.FieldDescriptor, f func(*tree.Node, protoreflect.FieldDescriptor)) {
	switch {
	case fd.IsMap() && n.Kind == tree.Map:
		for i := range n.Items {
			f(&n.Items[i], fd.MapValue())
		}
	case fd.IsList() && n.Kind == tree.List:
		for i := range n.Items {
			f(&n.Items[i], fd)
		}
	default:
		f(n, fd)
	}
}

func (r *redactor) value(n *tree.Node, fd protoreflect.FieldDescriptor) {
	switch {
	case fd.Message() != nil:
		r.message(n, fd.Message())
	case fd.Kind() == protoreflect.BytesKind:
		if raw, err := base64.StdEncoding.DecodeString(n.Text); err == nil && looksSecret(raw) {
			r.hide(n, fd)
		}
	default:
		r.unknown(n, "")
	}
}

// hide redacts all texts below a field that is sensitive. Numbers, durations and enums stay: a word in their place would not be a valid value.
func (r *redactor) hide(n *tree.Node, fd protoreflect.FieldDescriptor) {
	r.each(n, fd, func(n *tree.Node, fd protoreflect.FieldDescriptor) {
		switch {
		case fd.Message() != nil:
			r.hideMessage(n, fd.Message())
		case n.Kind == tree.String && fd.Kind() == protoreflect.BytesKind:
			r.put(n, encodedRedaction, true)
		case n.Kind == tree.String && fd.Kind() == protoreflect.StringKind:
			r.put(n, r.told.word(n.Text), true)
		}
	})
}

func (r *redactor) hideMessage(n *tree.Node, md protoreflect.MessageDescriptor) {
	switch md.FullName() {
	case "google.protobuf.Struct", "google.protobuf.Value", "google.protobuf.ListValue", "google.protobuf.StringValue":
		r.leaves(n, true)
		return
	case "google.protobuf.Any":
		url := n.Get("@type")
		if url == nil {
			return
		}
		mt, err := r.types.FindMessageByName(decode.TypeName(url.Text))
		if err != nil || mt.Descriptor().FullName().Parent() == "google.protobuf" {
			r.leaves(n, true)
			return
		}
		md = mt.Descriptor()
	}
	if n.Kind != tree.Map {
		if !decode.HasOwnJSON(md.FullName()) {
			r.leaves(n, true)
		}
		return
	}
	for i := range n.Items {
		fd := decode.FieldNamed(md.Fields(), n.Keys[i].Name)
		switch {
		case fd == nil && n.Keys[i].Name == "@type":
		case fd == nil:
			r.leaves(&n.Items[i], true)
		case md.FullName() == dataSource && !strings.HasPrefix(string(fd.Name()), "inline_"):
		default:
			r.hide(&n.Items[i], fd)
		}
	}
}

// unknown redacts a value whose message is not known by the names of keys; under is its key.
func (r *redactor) unknown(n *tree.Node, under string) {
	if n.Kind == tree.String {
		r.part(n)
	}
	if n.Kind != tree.Map {
		for i := range n.Items {
			r.unknown(&n.Items[i], under)
		}
		return
	}
	kind := n.Get("kind")
	object, credential, patched := kind != nil && kind.Text == "Secret", pairIn(n), patchedField(n)
	for i := range n.Items {
		item, key := &n.Items[i], n.Keys[i].Name
		switch {
		case object && key == "data":
			r.encoded(item)
		case object && key == "stringData", credential != nil && credential.isIn(n, item):
			r.leaves(item, false)
		case patched != "" && key == "value":
			r.patch(item, patched)
		default:
			r.entry(item, key, under)
		}
	}
}

// pairIn finds out whether a map is a header with a credential, or something like it; nil if it is not.
func pairIn(n *tree.Node) *pair {
	for _, p := range pairKeys {
		if p.in(n) {
			return p
		}
	}
	return nil
}

// patchedField is the path that a JSON Patch writes to; empty if the map is not one.
func patchedField(n *tree.Node) string {
	op, path := n.Get("op"), n.Get("path")
	if op == nil || path == nil || path.Kind != tree.String {
		return ""
	}
	return path.Text
}

// patch redacts what a JSON Patch writes below a key for secrets, and a DataSource, of which only the path may tell what it holds.
func (r *redactor) patch(n *tree.Node, path string) {
	under, key := "", ""
	secret := n.Field("inline_string") != nil || n.Field("inline_bytes") != nil
	for step := range strings.SplitSeq(path, "/") {
		under, key = key, step
		secret = secret || isField(key, under)
	}
	if secret {
		r.leaves(n, true)
	} else {
		r.entry(n, key, under)
	}
}

// encoded redacts the data of a Kubernetes Secret.
func (r *redactor) encoded(n *tree.Node) {
	for i := range n.Items {
		if item := &n.Items[i]; item.Kind == tree.String || item.Kind == tree.Number {
			r.put(item, encodedRedaction, false)
		}
	}
}

func (r *redactor) entry(n *tree.Node, key, under string) {
	if url := n.Get("@type"); n.Kind == tree.Map && url != nil {
		r.any(n)
	} else if isKey(key, under, n.Kind == tree.String) || isMatch(n) && Credential(key) {
		r.leaves(n, isField(key, under))
	} else {
		r.unknown(n, key)
	}
}

// isMatch reports whether a map matches a value, as those of VirtualServices and HTTPRoutes do.
func isMatch(n *tree.Node) bool {
	return n.Kind == tree.Map && len(n.Keys) == 1 && matchKeys[n.Keys[0].Name]
}

// leaves redacts all texts and numbers below a value, except for what says where a secret is. It is marked if a sensitive field has that name.
func (r *redactor) leaves(n *tree.Node, marked bool) {
	if n.Kind == tree.String || n.Kind == tree.Number {
		r.put(n, Redaction, marked)
	}
	for i := range n.Items {
		if n.Kind == tree.Map && (n.Keys[i].Name == "@type" || places[n.Keys[i].Name]) {
			continue
		}
		r.leaves(&n.Items[i], marked)
	}
}
