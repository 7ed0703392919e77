package constraint

import (
	"github.com/envoyproxy/protoc-gen-validate/validate"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

const (
	rulesNumber   protoreflect.FieldNumber = 1071 // (validate.rules), (validate.required), (validate.disabled)
	ignoredNumber protoreflect.FieldNumber = 1072 // (validate.ignored)
)

// rulesOf returns the (validate.rules) of a field, or nil if it has none.
func rulesOf(fd protoreflect.FieldDescriptor) *validate.FieldRules { return rulesIn(fd.Options()) }

func rulesIn(options proto.Message) *validate.FieldRules {
	value, raw := extension(options, rulesNumber)
	if m, ok := value.(protoreflect.Message); ok {
		if r, ok := m.Interface().(*validate.FieldRules); ok {
			return r
		}
		raw, _ = proto.Marshal(m.Interface()) // of a descriptor that is not the linked one
	}
	if raw == nil {
		return nil
	}
	rules := new(validate.FieldRules)
	if proto.Unmarshal(raw, rules) != nil {
		return nil
	}
	return rules
}

// unchecked reports whether PGV generates no checks for a message.
func unchecked(md protoreflect.MessageDescriptor) bool {
	return flag(md.Options(), rulesNumber) || flag(md.Options(), ignoredNumber)
}

func flag(options proto.Message, number protoreflect.FieldNumber) bool {
	value, raw := extension(options, number)
	if b, ok := value.(bool); ok {
		return b
	}
	n, _ := protowire.ConsumeVarint(raw)
	return raw != nil && n == 1
}

// extension returns an extension of descriptor options: its value, or, if the extension was not known when they were
// parsed, its bytes from the unknown fields, a message without its length. Both occur in the files of users.
func extension(options proto.Message, number protoreflect.FieldNumber) (value any, raw []byte) {
	m := options.ProtoReflect()
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if fd.IsExtension() && fd.Number() == number {
			value = v.Interface()
		}
		return value == nil
	})
	if value != nil {
		return value, nil
	}
	return nil, unknownField(m.GetUnknown(), number)
}

// unknownField joins all occurrences of a field in b, as a parser would merge them.
func unknownField(b []byte, number protoreflect.FieldNumber) (raw []byte) {
	for len(b) > 0 {
		found, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return raw
		}
		size := protowire.ConsumeFieldValue(found, kind, b[n:])
		if size < 0 {
			return raw
		}
		value := b[n : n+size]
		b = b[n+size:]
		switch {
		case found != number:
		case kind == protowire.BytesType:
			content, _ := protowire.ConsumeBytes(value)
			raw = append(raw, content...)
		case kind == protowire.VarintType:
			raw = append(raw[:0], value...)
		}
	}
	return raw
}
