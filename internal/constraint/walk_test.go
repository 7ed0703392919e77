package constraint_test

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/internal/constraint"
	_ "github.com/xdslint/xdslint/internal/decode/linked"
)

// found is a violation and where it is.
type found struct {
	path string
	constraint.Violation
}

func (f found) String() string { return f.path + " " + f.Message + " | " + f.Upstream }

// collect checks m and all messages in it, but not in an Any, as the generated ValidateAll does.
func collect(m protoreflect.Message) []found {
	var all []found
	walk("", m, func(path string, m protoreflect.Message) {
		constraint.For(m.Descriptor()).Check(m, func(v constraint.Violation) {
			all = append(all, found{path + place(v), v})
		})
	})
	return all
}

func place(v constraint.Violation) string {
	switch {
	case v.Oneof != nil:
		return string(v.Oneof.Name())
	case v.Key.IsValid():
		return fmt.Sprintf("%s[%s]", v.Field.Name(), v.Key.String())
	case v.Index >= 0:
		return fmt.Sprintf("%s[%d]", v.Field.Name(), v.Index)
	}
	return string(v.Field.Name())
}

func walk(path string, m protoreflect.Message, visit func(string, protoreflect.Message)) {
	visit(path, m)
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if constraint.Skip(fd) {
			return true
		}
		at := path + string(fd.Name())
		switch {
		case fd.IsMap():
			if fd.MapValue().Message() != nil {
				v.Map().Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
					walk(fmt.Sprintf("%s[%s].", at, k.String()), v.Message(), visit)
					return true
				})
			}
		case fd.Message() == nil:
		case fd.IsList():
			for i := range v.List().Len() {
				walk(fmt.Sprintf("%s[%d].", at, i), v.List().Get(i).Message(), visit)
			}
		default:
			walk(at+".", v.Message(), visit)
		}
		return true
	})
}

// fromJSON parses text into m.
func fromJSON[M proto.Message](t testing.TB, m M, text string) M {
	t.Helper()
	if err := protojson.Unmarshal([]byte(text), m); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return m
}

func lines(all []found) string {
	var b strings.Builder
	for _, f := range all {
		fmt.Fprintln(&b, f)
	}
	return b.String()
}
