package schema

import (
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	_ "github.com/xdslint/xdslint/internal/decode/linked"
)

func TestReplacedFieldsAreGone(t *testing.T) {
	for field := range replaced {
		if field.in == "" {
			continue
		}
		mt, err := protoregistry.GlobalTypes.FindMessageByName(field.in)
		if err != nil {
			t.Errorf("%s: %v", field.in, err)
		} else if mt.Descriptor().Fields().ByName(protoreflect.Name(field.name)) != nil {
			t.Errorf("%s has a field %s", field.in, field.name)
		}
	}
}

func TestSourcesAreFields(t *testing.T) {
	for name := range sources {
		if _, err := protoregistry.GlobalFiles.FindDescriptorByName(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNearestType(t *testing.T) {
	for from, want := range map[string]string{"router": "router", "a": ""} {
		if got := nearestTypo(from+"s", []string{"router", "buffer"}); got != want {
			t.Errorf("%q: %q, want %q", from, got, want)
		}
	}
	if d := editDistance("kitten", "sitting"); d != 3 {
		t.Errorf("kitten to sitting: %d", d)
	}
}
