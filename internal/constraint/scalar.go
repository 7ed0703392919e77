package constraint

import (
	"fmt"
	"strconv"

	"github.com/envoyproxy/protoc-gen-validate/validate"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// scalarRules compiles the rules for a value of the kind of fd. Rules for another kind have no effect: PGV does not
// compile them.
func scalarRules(fd protoreflect.FieldDescriptor, r *validate.FieldRules) []rule {
	switch t := r.GetType().(type) {
	case nil:
		return nil
	case *validate.FieldRules_String_:
		if fd.Kind() == protoreflect.StringKind {
			return stringRules(t.String_)
		}
	case *validate.FieldRules_Bytes:
		if fd.Kind() == protoreflect.BytesKind {
			return bytesRules(t.Bytes)
		}
	case *validate.FieldRules_Enum:
		if fd.Kind() == protoreflect.EnumKind {
			return enumRules(fd.Enum(), t.Enum)
		}
	case *validate.FieldRules_Bool:
		if fd.Kind() == protoreflect.BoolKind && t.Bool.Const != nil {
			return []rule{boolRule(t.Bool.GetConst())}
		}
	default:
		m := r.ProtoReflect()
		if set := m.WhichOneof(m.Descriptor().Oneofs().ByName("type")); set != nil && set.Message() != nil {
			return numberRules(fd, m.Get(set).Message())
		}
	}
	return nil
}

func boolRule(want bool) rule {
	return rule{
		broken:   func(v protoreflect.Value) bool { return v.Bool() != want },
		message:  fmt.Sprintf("must be %t", want),
		upstream: fmt.Sprintf("value must equal %t", want),
	}
}

// numberRules compiles validate.Int32Rules and the like.
func numberRules(fd protoreflect.FieldDescriptor, bounds protoreflect.Message) []rule {
	if of := bounds.Descriptor().Fields().ByName("lt"); of == nil || of.Kind() != fd.Kind() {
		return nil
	}
	var rules []rule
	var empty func(protoreflect.Value) bool
	switch fd.Kind() {
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		bits := 64
		if fd.Kind() == protoreflect.FloatKind {
			bits = 32
		}
		show := func(f float64) string { return strconv.FormatFloat(f, 'g', -1, bits) }
		less := func(a, b float64) bool { return a < b }
		rules = ordered[float64]{get: protoreflect.Value.Float, less: less, show: show, cite: show}.rules(bounds)
		empty = func(v protoreflect.Value) bool { return v.Float() == 0 }
	case protoreflect.Uint32Kind, protoreflect.Uint64Kind, protoreflect.Fixed32Kind, protoreflect.Fixed64Kind:
		show := func(n uint64) string { return strconv.FormatUint(n, 10) }
		less := func(a, b uint64) bool { return a < b }
		rules = ordered[uint64]{get: protoreflect.Value.Uint, less: less, show: show, cite: show}.rules(bounds)
		empty = func(v protoreflect.Value) bool { return v.Uint() == 0 }
	default:
		show := func(n int64) string { return strconv.FormatInt(n, 10) }
		less := func(a, b int64) bool { return a < b }
		rules = ordered[int64]{get: protoreflect.Value.Int, less: less, show: show, cite: show}.rules(bounds)
		empty = func(v protoreflect.Value) bool { return v.Int() == 0 }
	}
	if bounds.Get(bounds.Descriptor().Fields().ByName("ignore_empty")).Bool() {
		return unless(empty, rules)
	}
	return rules
}

// unless applies rules only to values that are not empty (ignore_empty).
func unless(empty func(protoreflect.Value) bool, rules []rule) []rule {
	for i := range rules {
		broken := rules[i].broken
		rules[i].broken = func(v protoreflect.Value) bool { return !empty(v) && broken(v) }
	}
	return rules
}

// enumRules compiles validate.EnumRules.
func enumRules(ed protoreflect.EnumDescriptor, r *validate.EnumRules) []rule {
	var rules []rule
	name := func(n int32) string { return enumName(ed, protoreflect.EnumNumber(n)) }
	shown := func(v protoreflect.Value) string {
		if v.Enum() == 0 {
			return ""
		}
		return "is " + enumName(ed, v.Enum())
	}
	if r.Const != nil {
		want := protoreflect.EnumNumber(r.GetConst())
		rules = append(rules, rule{
			broken:   func(v protoreflect.Value) bool { return v.Enum() != want },
			message:  "must be " + name(r.GetConst()),
			shown:    shown,
			upstream: "value must equal " + name(r.GetConst()),
		})
	}
	if len(r.In) > 0 {
		in := r.In
		rules = append(rules, rule{
			broken:   func(v protoreflect.Value) bool { return !containsEnum(in, v) },
			message:  "must be one of " + join(in, name, ", "),
			shown:    shown,
			upstream: "value must be in list [" + join(in, name, " ") + "]",
		})
	} else if len(r.NotIn) > 0 {
		not := r.NotIn
		rules = append(rules, rule{
			broken:   func(v protoreflect.Value) bool { return containsEnum(not, v) },
			message:  "must not be " + join(not, name, " or "),
			upstream: "value must not be in list [" + join(not, name, " ") + "]",
		})
	}
	if r.GetDefinedOnly() {
		rules = append(rules, rule{
			broken:   undefined(ed),
			message:  "must be a value that " + string(ed.Name()) + " defines",
			shown:    func(v protoreflect.Value) string { return fmt.Sprintf("is %d", v.Enum()) },
			upstream: "value must be one of the defined enum values",
		})
	}
	return rules
}

func containsEnum(list []int32, v protoreflect.Value) bool {
	for _, n := range list {
		if protoreflect.EnumNumber(n) == v.Enum() {
			return true
		}
	}
	return false
}

func enumName(ed protoreflect.EnumDescriptor, n protoreflect.EnumNumber) string {
	if value := ed.Values().ByNumber(n); value != nil {
		return string(value.Name())
	}
	return strconv.Itoa(int(n))
}

// undefined reports whether an enum has no value of that number. Most enums are small enough for a bit set.
func undefined(ed protoreflect.EnumDescriptor) func(protoreflect.Value) bool {
	var set uint64
	for i := range ed.Values().Len() {
		n := ed.Values().Get(i).Number()
		if n < 0 || n >= 64 {
			return func(v protoreflect.Value) bool { return ed.Values().ByNumber(v.Enum()) == nil }
		}
		set |= 1 << n
	}
	return func(v protoreflect.Value) bool {
		n := v.Enum()
		return n < 0 || n >= 64 || set>>n&1 == 0
	}
}
