package redact_test

import (
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/xdslint/xdslint/internal/constraint"
	_ "github.com/xdslint/xdslint/internal/decode/linked"
	"github.com/xdslint/xdslint/internal/redact"
)

// TestRedactionKeepsConstraints: the text that replaces a secret satisfies the constraints on the field, so a valid file stays valid.
func TestRedactionKeepsConstraints(t *testing.T) {
	tried := 0
	protoregistry.GlobalTypes.RangeMessages(func(mt protoreflect.MessageType) bool {
		checker := constraint.For(mt.Descriptor())
		for i := range mt.Descriptor().Fields().Len() {
			fd := mt.Descriptor().Fields().Get(i)
			if !redact.Sensitive(fd) {
				continue
			}
			m := mt.New()
			var value protoreflect.Value
			switch fd.Kind() {
			case protoreflect.StringKind:
				value = protoreflect.ValueOfString(redact.Redaction)
			case protoreflect.BytesKind:
				value = protoreflect.ValueOfBytes([]byte(redact.Redaction))
			default:
				continue
			}
			if fd.IsList() {
				m.Mutable(fd).List().Append(value)
			} else {
				m.Set(fd, value)
			}
			tried++
			if checker == nil {
				continue
			}
			checker.Check(m, func(v constraint.Violation) {
				if v.Field == fd {
					t.Errorf("%s: %s", fd.FullName(), v.Message)
				}
			})
		}
		return true
	})
	if tried < 5 {
		t.Errorf("only %d fields", tried)
	}
}
