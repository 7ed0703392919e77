package difftest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/envoyproxy/protoc-gen-validate/validate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"
)

// scalarOf returns the field with the kind of the scalar in a text for fd: fd itself, or the field of its wrapper. For a Duration it is fd. It returns nil
// if fd does not hold a scalar.
func scalarOf(fd protoreflect.FieldDescriptor) protoreflect.FieldDescriptor {
	md := fd.Message()
	switch {
	case fd.IsMap():
		return nil
	case md == nil, isDuration(fd):
		return fd
	case md.FullName().Parent() == "google.protobuf" && strings.HasSuffix(string(md.Name()), "Value") && md.Fields().Len() == 1:
		if md.Name() == "ListValue" {
			return nil
		}
		return md.Fields().Get(0)
	}
	return nil
}

func isDuration(fd protoreflect.FieldDescriptor) bool {
	return fd.Message() != nil && fd.Message().FullName() == "google.protobuf.Duration"
}

var (
	oddStrings = []string{
		"", " ", "x", "*", "/", "a b", "%", "%%", "%FOO%", "%REQ(x)%", "(", "[a-", ".*", ":", ":path", "host", "é", "日本", "a\nb", "a\tb", "a\u0000b",
		"-1", "0", "1", "true", "127.0.0.1", "::1", "256.0.0.1", "10.0.0.0/8", "example.com", "*.example.com", "http://example.com/", "{a}", "${A}",
		strings.Repeat("a", 61), strings.Repeat("x", 1025), strings.Repeat("y", 20000),
	}
	oddNumbers = []string{"0", "1", "2", "99", "100", "101", "200", "600", "1000", "65535", "65536", "-1"}
	oddFloats  = []string{"0", "0.5", "1", "-0.5", "100", "100.5", "1e308", "-1e308"}
	oddTimes   = []string{"0s", "0.000000001s", "0.0009s", "0.001s", "1s", "60s", "3600s", "-1s", "-0.5s", "315576000000s", "315576000001s", "9223372036s", "1m", "s"}
)

// odd returns a value at or beyond a limit of the field.
func (d *draft) odd(fd protoreflect.FieldDescriptor) *value {
	limits := limitsOf(fd)
	scalar := scalarOf(fd)
	if isDuration(fd) {
		return str(choose(d.Rand, append(limits, oddTimes...)))
	}
	switch scalar.Kind() {
	case protoreflect.BoolKind:
		return boolean(d.IntN(2) == 0)
	case protoreflect.StringKind:
		return str(choose(d.Rand, append(limits, oddStrings...)))
	case protoreflect.BytesKind:
		return str(choose(d.Rand, []string{"", "AA==", "AAAAAAAA", "!", "A"}))
	case protoreflect.EnumKind:
		return d.oddEnum(scalar.Enum())
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		return number(choose(d.Rand, append(limits, oddFloats...)))
	}
	return number(choose(d.Rand, append(append(limits, oddNumbers...), extremes(scalar.Kind())...)))
}

func (d *draft) oddEnum(ed protoreflect.EnumDescriptor) *value {
	switch d.IntN(8) {
	case 0:
		return number("99")
	case 1:
		return str("NO_SUCH_VALUE")
	}
	return str(string(ed.Values().Get(d.IntN(ed.Values().Len())).Name()))
}

// extremes are the largest and smallest numbers of a type, and those just beyond.
func extremes(kind protoreflect.Kind) []string {
	switch kind {
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return []string{"4294967295", "4294967296"}
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return []string{"2147483647", "2147483648", "-2147483648", "-2147483649"}
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return []string{"18446744073709551615", "18446744073709551616"}
	}
	return []string{"9223372036854775807", "9223372036854775808"}
}

// rulesOf returns the constraints that Envoy's proto puts on a field, or nil if there are none.
func rulesOf(fd protoreflect.FieldDescriptor) *validate.FieldRules {
	rules, _ := proto.GetExtension(fd.Options(), validate.E_Rules).(*validate.FieldRules)
	return rules
}

// limitsOf lists values at, just below and just above each limit in the proto.
func limitsOf(fd protoreflect.FieldDescriptor) (limits []string) {
	rules := rulesOf(fd)
	if repeated := rules.GetRepeated(); repeated != nil {
		rules = repeated.GetItems()
	}
	if rules == nil {
		return nil
	}
	rules.ProtoReflect().Range(func(kind protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if kind.Message() == nil || kind.IsList() {
			return true
		}
		v.Message().Range(func(rule protoreflect.FieldDescriptor, v protoreflect.Value) bool {
			limits = append(limits, around(rule, v)...)
			return true
		})
		return true
	})
	return limits
}

// around lists values near one limit.
func around(rule protoreflect.FieldDescriptor, v protoreflect.Value) (near []string) {
	switch {
	case rule.IsList() || rule.Kind() == protoreflect.BoolKind || rule.Kind() == protoreflect.EnumKind:
		return nil
	case strings.HasPrefix(string(rule.Name()), "min_") || strings.HasPrefix(string(rule.Name()), "max_") || rule.Name() == "len":
		for n := int64(v.Uint()) - 1; n <= int64(v.Uint())+1; n++ {
			if n >= 0 && n < 100_000 {
				near = append(near, strings.Repeat("z", int(n)))
			}
		}
		return near
	case rule.Message() != nil:
		limit, ok := v.Message().Interface().(*durationpb.Duration)
		if !ok {
			return nil
		}
		return []string{seconds(limit.AsDuration().Seconds()), seconds(limit.AsDuration().Seconds() - 0.001), seconds(limit.AsDuration().Seconds() + 0.001)}
	case rule.Kind() == protoreflect.DoubleKind || rule.Kind() == protoreflect.FloatKind:
		return []string{fmt.Sprint(v.Float()), fmt.Sprint(v.Float() + 0.25), fmt.Sprint(v.Float() - 0.25)}
	}
	n, err := strconv.ParseInt(v.String(), 10, 64)
	if err != nil {
		return nil
	}
	return []string{fmt.Sprint(n - 1), fmt.Sprint(n), fmt.Sprint(n + 1)}
}

func seconds(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) + "s" }
