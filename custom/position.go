package custom

import (
	"strings"
	"unicode"

	"cel.dev/cel-go/common"

	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/tree"
)

// faultAt adds a fault at a place in the expression.
func (m *maker) faultAt(at common.Location, format string, args ...any) {
	m.faultf("expression", format, args...)
	m.faults[len(m.faults)-1].Span = m.spanOf(at)
}

// spanOf returns the span of a word of the expression in the configuration. If the YAML text is escaped or folded, it is the span of the whole expression.
func (m *maker) spanOf(at common.Location) source.Span {
	text := m.Expression
	start := offset(text, at)
	if start > 0 && start < len(text) && text[start] == '(' && isWord(text[start-1]) { // of a call
		start = strings.LastIndexFunc(text[:start], func(c rune) bool { return c > unicode.MaxASCII || !isWord(byte(c)) }) + 1
	}
	end := start
	for end < len(text) && (text[end] == '.' && end == start || isWord(text[end])) {
		end++
	}
	if end < len(text) && text[start] == '.' {
		start++ // CEL places a field at the dot before it
	}
	inner := source.Span{Start: start, End: max(end, start+1)}
	if lines := m.lines(); lines != nil {
		return lines.Span(inner)
	}
	file, span := m.File().Text, m.At("expression")
	for _, quotes := range []int{0, 1} {
		if begin, end := span.Start+quotes, span.End-quotes; begin <= end && string(file[begin:end]) == text {
			return source.Span{Start: begin + inner.Start, End: min(begin+inner.End, span.End)}
		}
	}
	return span
}

// lines returns the lines of an expression that is written as a literal block, and nil for any other.
func (m *maker) lines() tree.BlockLines {
	node := m.Value("expression")
	if node == nil {
		return nil
	}
	return node.Lines(m.File().Text, []byte(m.Expression))
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// offset returns the byte offset of CEL's line, from 1, and column in characters, from 0.
func offset(text string, at common.Location) int {
	begin := 0
	for range at.Line() - 1 {
		next := strings.IndexByte(text[begin:], '\n')
		if next < 0 {
			break
		}
		begin += next + 1
	}
	line := text[begin:]
	for i := range line {
		if at.Column() <= len([]rune(line[:i])) {
			return begin + i
		}
	}
	return len(text)
}
