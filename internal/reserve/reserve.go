// Package reserve lets work wait for memory before it reads a text, which it cannot end half-way.
package reserve

import (
	"bytes"
	"context"

	"google.golang.org/protobuf/encoding/protowire"
)

type key struct{}

// With returns a context whose work asks reserve for memory. It waits for that many bytes, and reports whether they are
// there. If not, it ends the work.
func With(ctx context.Context, reserve func(size int64) bool) context.Context {
	return context.WithValue(ctx, key{}, reserve)
}

// Reading waits for the memory that reading texts can take, and reports whether it is there.
func Reading(ctx context.Context, texts ...[]byte) bool {
	n := 0
	for _, text := range texts {
		n += ValuesIn(text)
	}
	return Values(ctx, n)
}

// perValue is how many bytes a value of a text or of a message can take: what the YAML parser needs for a number in a
// list.
const perValue = 800

// Values waits for the memory that values can take, and reports whether it is there.
func Values(ctx context.Context, n int) bool {
	reserve, limited := ctx.Value(key{}).(func(int64) bool)
	return !limited || reserve(perValue*int64(n))
}

// ValuesIn returns how many values may be in a text, without what aliases repeat. Each further value of YAML or JSON
// needs a separator, and each further message of a proto text a bracket.
func ValuesIn(text []byte) int {
	return max(count(text, ",", "\n"), count(text, "{", "<"), fields(text, 0))
}

func count(text []byte, separators ...string) (n int) {
	for _, separator := range separators {
		n += bytes.Count(text, []byte(separator))
	}
	return n
}

// maxDepth is that of protobuf's own reader.
const maxDepth = protowire.DefaultRecursionLimit

// fields counts what may be messages in a text that may be a message: fields with a length, and groups.
func fields(raw []byte, depth int) (n int) {
	for len(raw) > 0 && depth < maxDepth {
		_, is, size := protowire.ConsumeTag(raw)
		if size < 0 {
			return n
		}
		raw = raw[size:]
		switch is {
		case protowire.StartGroupType, protowire.EndGroupType:
			n, size = n+1, 0
		case protowire.BytesType:
			var inner []byte
			inner, size = protowire.ConsumeBytes(raw)
			n += 1 + fields(inner, depth+1)
		default:
			size = protowire.ConsumeFieldValue(1, is, raw)
		}
		if size < 0 {
			return n
		}
		raw = raw[size:]
	}
	return n
}
