// Package reserve lets work wait for memory before it reads a text, which it cannot end half-way.
package reserve

import (
	"bytes"
	"context"
	"encoding/json"
	"runtime/metrics"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

type key struct{}

// With returns a context whose work asks reserve for memory. It waits for that many bytes, and reports whether they are
// there. If not, it ends the work.
func With(ctx context.Context, reserve func(size int64) bool) context.Context {
	return context.WithValue(ctx, key{}, reserve)
}

// InUse returns how many bytes the latest collection of garbage left.
func InUse() uint64 {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	return live[0].Value.Uint64()
}

// Values waits for the memory of as many values as count returns, and reports whether it is there. Nothing is counted
// where memory is not limited.
func Values(ctx context.Context, count func() int) bool {
	reserve, limited := ctx.Value(key{}).(func(int64) bool)
	return !limited || reserve(perValue*int64(count()))
}

// perValue is how many bytes a value of a text or of a message can take: what the YAML parser needs for the tokens and
// nodes of a list in a list, or for a key or a value in a map between brackets.
const perValue = 800

// Reading waits for the memory that reading texts can take, and reports whether it is there.
func Reading(ctx context.Context, texts ...[]byte) bool {
	return Values(ctx, func() (n int) {
		for _, text := range texts {
			n += ValuesIn(text)
		}
		return n
	})
}

// Block waits for the memory that reading a literal block can take, beyond what is reserved for its lines in the text
// around it, which are counted as they are, with what is in strings.
func Block(ctx context.Context, block []byte) bool {
	return Values(ctx, func() int { return max(0, ValuesIn(block)-inLines(block)) })
}

// ValuesIn returns how many values may be in a text, without what aliases repeat: each one begins after a line break, a
// separator or an indicator of YAML or JSON, at a bracket of a proto text, or as a field of a binary message.
func ValuesIn(text []byte) int {
	in := inLines
	if json.Valid(text) {
		in = inJSON
	}
	return max(in(text), fields(text, 0))
}

// inJSON counts as inLine does, without what is in strings.
func inJSON(text []byte) (n int) {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case !quoted && strings.IndexByte(",:{[", c) >= 0:
			n++
		}
	}
	return n
}

func inLines(text []byte) (n int) {
	if bytes.HasPrefix(text, []byte{0xff, 0xfe}) || bytes.HasPrefix(text, []byte{0xfe, 0xff}) {
		text = bytes.ReplaceAll(text, []byte{0}, nil) // of UTF-16, which is nearly UTF-8 then
	}
	for line := range bytes.FieldsFuncSeq(text, breaks) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			n += inLine(line)
		}
	}
	return n
}

// breaks reports whether YAML 1.1 breaks a line at a rune.
func breaks(r rune) bool { return strings.ContainsRune("\n\r\u0085\u2028\u2029", r) }

// inLine counts what may be values in a line, which is one at least. The YAML parser keeps all tokens until the first
// bracket is closed, also those that it rejects then.
func inLine(line []byte) int {
	separators, items, quotes := 0, 0, 0
	for i, c := range line {
		before, after := byte(' '), byte(' ')
		if i > 0 {
			before = line[i-1]
		}
		if i+1 < len(line) {
			after = line[i+1]
		}
		switch c {
		case ',', '{', '[', '<', '&', '!', '*':
			separators++
		case ':': // not one within a name or an address
			if strings.IndexByte(" \t,[]{}", after) >= 0 || strings.IndexByte("\"']}", before) >= 0 {
				separators++
			}
		case '-', '?':
			if after == ' ' || after == '\t' {
				items++
			}
		case '"', '\'':
			quotes++
		}
	}
	return max(1, separators, items, quotes/2)
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
