package constraint_test

import (
	"math"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"
)

// choose gives a number below n. Messages are generated from it, so that rapid, a fuzzer and math/rand can all do it.
type choose func(n int) int

var (
	integers = []int64{
		0, 1, 2, 3, 5, 7, 8, 10, 16, 32, 63, 64, 65, 99, 100, 101, 128, 255, 256, 512, 599, 600, 1000, 1024,
		4096, 16383, 16384, 65534, 65535, 65536, 1 << 20, 1<<24 - 1, 1 << 30, math.MaxInt32, math.MaxUint32, -1, -2, math.MinInt32,
	}
	floats = []float64{0, 0.5, 1, 1.5, 2, 3, 10, 99.9, 100, 100.5, 1000, -0.1, -1, math.NaN(), math.Inf(1), math.Inf(-1)}
	texts  = []string{
		"", "a", "x-header", ":path", ":", "a b", "new\nline", "nul\x00", "tab\tbed", "del\x7f", "é", "日本語",
		"/", "/path", "/a?b#c", "*.example.com", "db.mmdb", "http", "https", "HTTP", "LH", "UH", "DC", "a,b", "{", "}", "%", "%%",
		"0123456789abcdef", strings.Repeat("é", 64), strings.Repeat("x", 1025), strings.Repeat("y", 70000),
	}
	// None with seconds and nanos of different sign: see TestMixedSigns.
	durations = []*durationpb.Duration{
		{},
		{Nanos: 1},
		{Nanos: 999_999},
		{Nanos: 1_000_000},
		{Nanos: 25_000_000},
		{Nanos: 999_999_999},
		{Seconds: 1},
		{Seconds: 5},
		{Seconds: 60},
		{Seconds: 300},
		{Seconds: 300, Nanos: 1},
		{Seconds: 86400},
		{Seconds: math.MaxUint32 - 1},
		{Seconds: math.MaxUint32},
		{Seconds: 315_576_000_000},
		{Seconds: 315_576_000_001},
		{Nanos: 1_000_000_000},
		{Seconds: -1},
		{Nanos: -1},
		{Seconds: math.MinInt64},
	}
)

// fill sets fields of m at random, to values at the edges of what rules allow.
func fill(m protoreflect.Message, c choose, depth int) {
	fields := m.Descriptor().Fields()
	if d, ok := m.Interface().(*durationpb.Duration); ok {
		from := durations[c(len(durations))]
		d.Seconds, d.Nanos = from.Seconds, from.Nanos
		return
	}
	for i := range fields.Len() {
		fd := fields.Get(i)
		if c(3) == 2 || fd.Message() != nil && !fd.IsMap() && depth == 0 {
			continue
		}
		if oneof := fd.ContainingOneof(); oneof != nil && !oneof.IsSynthetic() && c(oneof.Fields().Len()) > 0 {
			continue
		}
		setField(m, fd, c, depth)
	}
}

func setField(m protoreflect.Message, fd protoreflect.FieldDescriptor, c choose, depth int) {
	switch {
	case fd.IsMap():
		setMap(m.Mutable(fd).Map(), fd, c, depth)
	case fd.IsList():
		l := m.Mutable(fd).List()
		for range c(4) {
			if fd.Message() != nil {
				fill(l.AppendMutable().Message(), c, depth-1)
			} else {
				l.Append(scalar(fd, c))
			}
		}
	case fd.Message() != nil:
		fill(m.Mutable(fd).Message(), c, depth-1)
	default:
		m.Set(fd, scalar(fd, c))
	}
}

func setMap(entries protoreflect.Map, fd protoreflect.FieldDescriptor, c choose, depth int) {
	for range c(3) {
		k := scalar(fd.MapKey(), c).MapKey()
		switch {
		case fd.MapValue().Message() == nil:
			entries.Set(k, scalar(fd.MapValue(), c))
		case depth > 0:
			fill(entries.Mutable(k).Message(), c, depth-1)
		}
	}
}

func scalar(fd protoreflect.FieldDescriptor, c choose) protoreflect.Value {
	n := integers[c(len(integers))]
	switch fd.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(n%2 == 0)
	case protoreflect.EnumKind:
		if n > 16 {
			n = int64(fd.Enum().Values().Get(c(fd.Enum().Values().Len())).Number())
		}
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(n))
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(texts[c(len(texts))])
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte(texts[c(len(texts))]))
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(float32(floats[c(len(floats))]))
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(floats[c(len(floats))])
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return protoreflect.ValueOfInt32(int32(n))
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(uint32(n))
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return protoreflect.ValueOfInt64(n)
	default:
		return protoreflect.ValueOfUint64(uint64(n))
	}
}
