package fields_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"

	_ "github.com/xdslint/xdslint/internal/decode/linked"
	"github.com/xdslint/xdslint/internal/fields"
)

var allFields = fields.Of(func(protoreflect.FieldDescriptor) bool { return true })

// TestFields reads all fields of all linked message types, once with the fields and once with the reflection.
func TestFields(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	types := 0
	protoregistry.GlobalTypes.RangeMessages(func(mt protoreflect.MessageType) bool {
		types++
		for range 4 {
			m := mt.New()
			fill(m, random)
			compare(t, m)
		}
		return true
	})
	if types < 1000 {
		t.Errorf("only %d types are linked in", types)
	}
}

// TestDynamic reads a message that has no Go type, with the fields of its Go twin's descriptor.
func TestDynamic(t *testing.T) {
	mt, err := protoregistry.GlobalTypes.FindMessageByName("envoy.config.cluster.v3.Cluster")
	if err != nil {
		t.Fatal(err)
	}
	m := dynamicpb.NewMessage(mt.Descriptor())
	fill(m, rand.New(rand.NewPCG(3, 4)))
	compare(t, m)
}

// TestPlaces reads a list and a member of a oneof where Go keeps them: the reflection allocates.
func TestPlaces(t *testing.T) {
	endpoints := &endpointv3.LocalityLbEndpoints{LbEndpoints: []*endpointv3.LbEndpoint{
		{HostIdentifier: &endpointv3.LbEndpoint_Endpoint{Endpoint: &endpointv3.Endpoint{}}},
	}}
	read := func() {
		in, of := fields.In(endpoints.ProtoReflect()), named(endpoints.ProtoReflect().Descriptor())
		endpoint := fields.In(in.Item(&of[0], in.Len(&of[0])-1))
		of = named(endpoint.Descriptor())
		if !endpoint.IsSet(&of[0]) || endpoint.Inner(&of[0]).Interface() != endpoints.GetLbEndpoints()[0].GetEndpoint() {
			t.Fatal("the endpoint is not there")
		}
	}
	if n := testing.AllocsPerRun(100, read); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

var named = fields.Of(func(fd protoreflect.FieldDescriptor) bool {
	return fd.Name() == "lb_endpoints" || fd.Name() == "endpoint"
})

// fill sets about half of the fields.
func fill(m protoreflect.Message, random *rand.Rand) {
	all := m.Descriptor().Fields()
	for i := range all.Len() {
		fd := all.Get(i)
		switch {
		case random.IntN(2) == 0:
		case fd.IsMap():
			m.Mutable(fd).Map().Set(fd.MapKey().Default().MapKey(), m.Mutable(fd).Map().NewValue())
		case fd.IsList():
			for range random.IntN(3) {
				list := m.Mutable(fd).List()
				list.Append(list.NewElement())
			}
		case fd.Kind() == protoreflect.StringKind:
			m.Set(fd, protoreflect.ValueOfString([]string{"", "text"}[random.IntN(2)]))
		case fd.Message() == nil && fd.Kind() != protoreflect.BytesKind:
			m.Set(fd, scalar(fd.Kind(), random))
		default:
			m.Set(fd, m.NewField(fd))
		}
	}
}

// scalar returns a value, which is often zero.
func scalar(kind protoreflect.Kind, random *rand.Rand) protoreflect.Value {
	n := random.IntN(3)
	switch kind {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString([]string{"", "a", "text"}[n])
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(n > 0)
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(n))
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return protoreflect.ValueOfInt32(int32(-n))
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return protoreflect.ValueOfInt64(int64(-n) << 32)
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(uint32(n))
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(uint64(n) << 32)
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32([]float32{0, float32(math.Copysign(0, -1)), 1.5}[n])
	}
	return protoreflect.ValueOfFloat64([]float64{0, math.Copysign(0, -1), 1.5}[n])
}

// TestSet sets all fields of all linked message types in a random order, once with the fields and once with the reflection.
func TestSet(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	protoregistry.GlobalTypes.RangeMessages(func(mt protoreflect.MessageType) bool {
		for range 4 {
			want, got, all := mt.New(), fields.In(mt.New()), allFields(mt.Descriptor())
			for _, i := range random.Perm(len(all)) {
				f := &all[i]
				if oneof := f.ContainingOneof(); oneof != nil && got.Taken(f) != (want.WhichOneof(oneof) != nil) {
					t.Errorf("%s: taken: %t", f.FullName(), got.Taken(f))
				}
				set(want, got, f, random)
				compare(t, got.Message)
			}
			if !proto.Equal(got.Interface(), want.Interface()) {
				t.Errorf("%s: %v, want %v", mt.Descriptor().FullName(), got, want)
			}
		}
		return true
	})
}

func set(want protoreflect.Message, got fields.Message, f *fields.Field, random *rand.Rand) {
	switch {
	case f.IsMap():
	case f.IsList() && f.Message() != nil:
		for range random.IntN(3) {
			want.Mutable(f.FieldDescriptor).List().AppendMutable()
			got.Add(f)
		}
	case f.IsList():
		for range random.IntN(3) {
			value := want.NewField(f.FieldDescriptor).List().NewElement()
			want.Mutable(f.FieldDescriptor).List().Append(value)
			got.Append(f, value)
		}
	case f.Message() != nil:
		want.Mutable(f.FieldDescriptor)
		got.Made(f)
	case f.Kind() == protoreflect.BytesKind:
		want.Set(f.FieldDescriptor, protoreflect.ValueOfBytes([]byte("bytes")))
		got.Put(f, protoreflect.ValueOfBytes([]byte("bytes")))
	default:
		value := scalar(f.Kind(), random)
		want.Set(f.FieldDescriptor, value)
		got.Put(f, value)
	}
}

func compare(t *testing.T, m protoreflect.Message) {
	t.Helper()
	in, all := fields.In(m), allFields(m.Descriptor())
	for i := range all {
		fd := &all[i]
		set := m.Has(fd.FieldDescriptor)
		if in.IsSet(fd) != set {
			t.Errorf("%s: set: %t", fd.FullName(), set)
		}
		if fd.Message() == nil && !fd.IsList() && fd.Kind() != protoreflect.BytesKind && !in.Value(fd).Equal(m.Get(fd.FieldDescriptor)) {
			t.Errorf("%s: %v", fd.FullName(), in.Value(fd))
		}
		if fd.Enum() != nil && !fd.IsList() && in.Enum(fd) != m.Get(fd.FieldDescriptor).Enum() {
			t.Errorf("%s: %d", fd.FullName(), in.Enum(fd))
		}
		if !set || fd.IsMap() {
			continue
		}
		if fd.IsList() {
			list := m.Get(fd.FieldDescriptor).List()
			if in.Len(fd) != list.Len() {
				t.Errorf("%s: %d elements instead of %d", fd.FullName(), in.Len(fd), list.Len())
			}
			for i := range list.Len() {
				if fd.Message() != nil {
					same(t, fd, in.Item(fd, i), list.Get(i).Message())
				}
			}
		} else if fd.Message() != nil {
			same(t, fd, in.Inner(fd), m.Get(fd.FieldDescriptor).Message())
			same(t, fd, in.Value(fd).Message(), m.Get(fd.FieldDescriptor).Message())
		}
	}
}

func same(t *testing.T, fd *fields.Field, a, b protoreflect.Message) {
	t.Helper()
	if a != b || a.Interface() != b.Interface() || a.Descriptor() != b.Descriptor() {
		t.Errorf("%s: another message", fd.FullName())
	}
}
