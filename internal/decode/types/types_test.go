package types

import (
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
)

func TestEveryTypeIsFound(t *testing.T) {
	count, made := 0, 0
	Each(func(name, _ protoreflect.FullName) {
		mt, err := Envoy.FindMessageByName(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		count++
		if _, ok := mt.New().Interface().(*dynamicpb.Message); ok {
			made++
		}
		for i := range mt.Descriptor().Fields().Len() {
			fd := mt.Descriptor().Fields().Get(i)
			if fd.Message() != nil && fd.Message().IsPlaceholder() || fd.Enum() != nil && fd.Enum().IsPlaceholder() {
				t.Errorf("the type of %s is not found", fd.FullName())
			}
		}
		if got := mt.Descriptor().FullName(); got != name {
			t.Errorf("%s is found as %s", name, got)
		}
	})
	if count < 1400 || made < 1000 {
		t.Errorf("%d types, %d of them dynamic: too few", count, made)
	}
}

func TestLinkedTypesAreGoTypes(t *testing.T) {
	mt, err := Envoy.FindMessageByName("envoy.config.core.v3.Node")
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := mt.New().Interface().(*corev3.Node); !ok {
		t.Errorf("%T is no *corev3.Node", mt.New().Interface())
	}
}

func TestFieldsOfLinkedTypes(t *testing.T) {
	mt, err := Envoy.FindMessageByName("envoy.extensions.filters.http.ext_authz.v3.ExtAuthz")
	if err != nil {
		t.Fatal(err)
	}
	field := mt.Descriptor().Fields().ByName("grpc_service").Message()
	if field != (*corev3.GrpcService)(nil).ProtoReflect().Descriptor() {
		t.Error("a dynamic message does not share the linked descriptors")
	}
}

func TestUnknownType(t *testing.T) {
	for _, name := range []protoreflect.FullName{"", "envoy", "envoy.config.core.v3.Nod", "envoy.config.core.v3", "x.Y", "\n", "envoy.config.core.v3.Node\t1"} {
		if mt, err := Envoy.FindMessageByName(name); err == nil {
			t.Errorf("%q is found as %s", name, mt.Descriptor().FullName())
		}
	}
}

func BenchmarkFirstUse(b *testing.B) {
	for b.Loop() {
		r := &Registry{}
		if _, err := r.FindMessageByName("envoy.extensions.filters.http.oauth2.v3.OAuth2"); err != nil {
			b.Fatal(err)
		}
	}
}
