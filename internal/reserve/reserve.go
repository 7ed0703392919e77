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

// Block waits for the memory that reading a literal block can take, beyond what is reserved for its lines in the text
// around it.
func Block(ctx context.Context, block []byte) bool {
	return Values(ctx, ValuesIn(block)-separators(block))
}

// perValue is how many bytes a value of a text or of a message can take: what the YAML parser needs for a number in a
// list.
const perValue = 800

// Values waits for the memory that values can take, and reports whether it is there.
func Values(ctx context.Context, n int) bool {
	reserve, limited := ctx.Value(key{}).(func(int64) bool)
	return !limited || reserve(perValue*int64(n))
}

// ValuesIn returns how many values may be in a text, without what aliases repeat: each one begins after a separator or an
// indicator of YAML or JSON, at a bracket of a proto text, or as a field of a binary message.
func ValuesIn(text []byte) int {
	return max(separators(text), indicators(text), fields(text, 0))
}

// separators counts the lines that may begin a value, and the commas in them. A comma and the line break after it are one
// separator.
func separators(text []byte) (n int) {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		n += count(bytes.TrimSuffix(line, []byte(",")), ",")
		if !bytes.HasPrefix(line, []byte("}")) && !bytes.HasPrefix(line, []byte("]")) {
			n++
		}
	}
	return n
}

// indicators counts what begins a map or a list, of which there may be many in a line. The last one is for keys that are
// empty.
func indicators(text []byte) int { return count(text, "{", "[", "<", "- ", "? ", ": :") }

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
