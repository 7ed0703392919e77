package redact

import (
	"bytes"
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/cncf/xds/go/udpa/annotations"

	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/tree"
)

// shape is what the list says about a message type.
type shape struct {
	fields []protoreflect.FieldDescriptor // that hold secrets
	maps   []protoreflect.FieldDescriptor // to texts: people choose the keys
	keyed  []protoreflect.FieldDescriptor // these, and what has a Struct in it
	pair   *pair
}

var shapes sync.Map // protoreflect.MessageDescriptor → *shape

func shapeOf(md protoreflect.MessageDescriptor) *shape {
	if known, ok := shapes.Load(md); ok {
		return known.(*shape)
	}
	s := &shape{pair: pairs[md.FullName()]}
	for i := range md.Fields().Len() {
		fd := md.Fields().Get(i)
		value := fd
		if fd.IsMap() {
			value = fd.MapValue()
		}
		switch {
		case Sensitive(fd):
			s.fields = append(s.fields, fd)
		case fd.IsMap() && value.Kind() == protoreflect.StringKind:
			s.maps, s.keyed = append(s.maps, fd), append(s.keyed, fd)
		case value.Message() != nil && isDynamic(value.Message()):
			s.keyed = append(s.keyed, fd)
		}
	}
	shapes.Store(md, s)
	return s
}

// hides reports whether the field of a message holds a secret.
func (s *shape) hides(m protoreflect.Message, fd protoreflect.FieldDescriptor) bool {
	return s.has(fd) || s.pair.isValue(fd) && s.credential(m)
}

func (s *shape) has(fd protoreflect.FieldDescriptor) bool { return slices.Contains(s.fields, fd) }

// Sensitive reports whether a field holds a secret: its options say so, or the list does.
func Sensitive(fd protoreflect.FieldDescriptor) bool {
	if unmarked[fd.FullName()] {
		return true
	}
	options, ok := fd.Options().(*descriptorpb.FieldOptions)
	if !ok || options == nil {
		return false
	}
	if len(options.ProtoReflect().GetUnknown()) > 0 { // the file was read without the extension
		known := &descriptorpb.FieldOptions{}
		if raw, err := proto.Marshal(options); err == nil && proto.Unmarshal(raw, known) == nil {
			options = known
		}
	}
	marked, _ := proto.GetExtension(options, annotations.E_Sensitive).(bool)
	return marked || options.GetDebugRedact()
}

// Credential reports whether a header or a query parameter of this name holds a credential.
func Credential(name string) bool { return headers[strings.ToLower(name)] || endsInWord(name) }

var joinedWords = func() []string {
	joined := make([]string, len(words))
	for i, word := range words {
		joined[i] = strings.ReplaceAll(word, " ", "")
	}
	return joined
}()

// endsInWord reports whether a name ends in one of the words.
func endsInWord[T string | []byte](name T) bool { return endsIn(name, joinedWords) }

// endsIn reports whether a name ends in one of some words, whatever its case, dashes and underscores. It is asked of every key.
func endsIn[T string | []byte](name T, words []string) bool {
	var end [16]byte // longer than any word
	at := len(end)
	for i := len(name) - 1; i >= 0 && at > 0; i-- {
		switch c := name[i]; {
		case c == '-' || c == '_':
		case 'A' <= c && c <= 'Z':
			at--
			end[at] = c - 'A' + 'a'
		default:
			at--
			end[at] = c
		}
	}
	return slices.ContainsFunc(words, func(word string) bool { return bytes.HasSuffix(end[at:], []byte(word)) })
}

// holds reports whether the values of a name are credentials.
func (p *pair) holds(name string, values []string) bool {
	return Credential(name) && slices.ContainsFunc(values, func(v string) bool { return !harmless().MatchString(v) })
}

func (p *pair) isValue(fd protoreflect.FieldDescriptor) bool {
	return p != nil && slices.Contains(p.values, fd.Name())
}

// isIn reports whether an item of a map is such a value.
func (p *pair) isIn(n, item *tree.Node) bool {
	return slices.ContainsFunc(p.values, func(v protoreflect.Name) bool { return n.Field(string(v)) == item })
}

// in reports whether a map of a text is such a pair, with a credential.
func (p *pair) in(n *tree.Node) bool {
	if p == nil {
		return false
	}
	name := n.Field(string(p.name))
	if name == nil || name.Kind != tree.String {
		return false
	}
	var values []string
	for _, field := range p.values {
		if value := n.Field(string(field)); value != nil {
			values = leavesOf(value, values)
		}
	}
	return p.holds(name.Text, values)
}

// leavesOf appends the texts and numbers in a value.
func leavesOf(n *tree.Node, to []string) []string {
	if n.Kind == tree.String || n.Kind == tree.Number {
		to = append(to, n.Text)
	}
	for i := range n.Items {
		to = leavesOf(&n.Items[i], to)
	}
	return to
}

// credential reports whether a message is such a pair, with a credential.
func (s *shape) credential(m protoreflect.Message) bool {
	if s.pair == nil {
		return false
	}
	fields := m.Descriptor().Fields()
	name := fields.ByName(s.pair.name)
	if name == nil || name.Kind() != protoreflect.StringKind || !Credential(m.Get(name).String()) {
		return false
	}
	var values []string
	for _, field := range s.pair.values {
		if fd := fields.ByName(field); fd != nil && m.Has(fd) {
			eachText(fd, m.Get(fd), func(text string) { values = append(values, text) })
		}
	}
	return s.pair.holds(m.Get(name).String(), values)
}

// eachText calls f for the texts and bytes in the value of a field.
func eachText(fd protoreflect.FieldDescriptor, v protoreflect.Value, f func(string)) {
	one := func(fd protoreflect.FieldDescriptor, v protoreflect.Value) {
		switch {
		case fd.Message() != nil:
			textsIn(v.Message(), f)
		case fd.Kind() == protoreflect.StringKind:
			f(v.String())
		case fd.Kind() == protoreflect.BytesKind:
			f(string(v.Bytes()))
		}
	}
	switch {
	case fd.IsList():
		for i := range v.List().Len() {
			one(fd, v.List().Get(i))
		}
	case fd.IsMap():
		v.Map().Range(func(_ protoreflect.MapKey, v protoreflect.Value) bool {
			one(fd.MapValue(), v)
			return true
		})
	default:
		one(fd, v)
	}
}

// textsIn calls f for the texts and bytes in a message.
func textsIn(m protoreflect.Message, f func(string)) {
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if !isPlace(m, fd) {
			eachText(fd, v, f)
		}
		return true
	})
}

// isPlace reports whether a field of a DataSource says where the data is, and not what it is.
func isPlace(m protoreflect.Message, fd protoreflect.FieldDescriptor) bool {
	return m.Descriptor().FullName() == dataSource && !strings.HasPrefix(string(fd.Name()), "inline_")
}

// isKey reports whether the value of a key is a secret, where the message is not known. under is the key of the map that has the key; text means that
// the value is a single text.
func isKey(key, under string, text bool) bool {
	return isField(key, under) || text && endsInWord(key)
}

// isField reports whether a key is the name of a sensitive field.
func isField(key, under string) bool { return names[key] || within[under][key] }

// isDynamic reports whether a message is a Struct or a part of one.
func isDynamic(md protoreflect.MessageDescriptor) bool {
	switch md.FullName() {
	case "google.protobuf.Struct", "google.protobuf.Value", "google.protobuf.ListValue":
		return true
	}
	return false
}

// suspects reports whether a message may hold a secret by itself, and not in a message inside it.
func (s *shape) suspects(m protoreflect.Message) bool {
	if slices.ContainsFunc(s.fields, m.Has) || s.credential(m) {
		return true
	}
	for _, fd := range s.keyed {
		if m.Has(fd) && suspectKeys(fd, m.Get(fd)) {
			return true
		}
	}
	return false
}

// Suspect reports whether JSON may have something to redact in a message that is not in one inside it, nor in a text by its
// looks.
func Suspect(m protoreflect.Message) bool {
	md := m.Descriptor()
	return decode.IsTypedStruct(md.FullName()) || shapeOf(md).suspects(m)
}

// suspectKeys reports whether a value has a key for secrets, a key of a map with secrets, or a key whose value names the value of another key.
func suspectKeys(fd protoreflect.FieldDescriptor, v protoreflect.Value) (found bool) {
	switch {
	case fd.IsMap():
		v.Map().Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
			key := k.String()
			found = isKey(key, "", true) || Credential(key) || within[key] != nil || keysOfMaps[key] || suspectIn(fd.MapValue(), v)
			return !found
		})
		return found
	case fd.IsList():
		for i := range v.List().Len() {
			found = found || suspectIn(fd, v.List().Get(i))
		}
		return found
	}
	return suspectIn(fd, v)
}

func suspectIn(fd protoreflect.FieldDescriptor, v protoreflect.Value) (found bool) {
	if fd.Message() == nil {
		return false
	}
	v.Message().Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		found = suspectKeys(fd, v)
		return !found
	})
	return found
}
