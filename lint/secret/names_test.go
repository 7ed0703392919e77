package secret

import (
	"maps"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/cncf/xds/go/udpa/annotations"

	_ "github.com/xdslint/xdslint/graph/decode/linked"
)

// Every name that secrets are guessed by is a sensitive field somewhere.
func TestNames(t *testing.T) {
	marked, left := map[string]bool{}, maps.Clone(unmarked)
	protoregistry.GlobalTypes.RangeMessages(func(mt protoreflect.MessageType) bool {
		fields := mt.Descriptor().Fields()
		for i := range fields.Len() {
			on, _ := proto.GetExtension(fields.Get(i).Options(), annotations.E_Sensitive).(bool)
			if on || unmarked[fields.Get(i).FullName()] {
				delete(left, fields.Get(i).FullName())
				marked[string(fields.Get(i).Name())], marked[fields.Get(i).JSONName()] = true, true
			}
		}
		return true
	})
	for name := range names {
		if !marked[name] {
			t.Errorf("%s is no sensitive field", name)
		}
	}
	for name := range left {
		t.Errorf("%s is no field", name)
	}
	if len(marked) < 20 {
		t.Errorf("only %d sensitive fields", len(marked))
	}
}

func TestLooks(t *testing.T) {
	for text, secret := range map[string]bool{
		"authorization: Bearer abcdefghijklmnop.qrs": true,
		"token: eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx.x": true,
		"key: -----BEGIN RSA PRIVATE KEY-----":       true,
		"basic authentication failed":                false,
		"bearer tokens are checked":                  false,
		"-----BEGIN CERTIFICATE-----":                false,
	} {
		if Looks([]byte(text)) != secret {
			t.Errorf("%q: %v", text, !secret)
		}
	}
}
