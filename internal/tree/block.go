package tree

import (
	"bytes"

	"github.com/xdslint/xdslint/internal/source"
)

// BlockLines map a literal block (key: |) to the file: where each line begins in the text and in the file, and where the last one ends.
type BlockLines []struct{ inner, outer int }

// Lines returns the lines of a literal block, in its file and in its text. It returns nil for other scalars, and if the lines of the file are not those of
// the text.
func (n *Node) Lines(file, text []byte) BlockLines {
	start := n.Span().Start
	if start >= len(file) || file[start] != '|' {
		return nil
	}
	_, at := lineEnd(file, start)
	var found BlockLines
	indent := -1
	for inner := 0; inner < len(text); {
		end, after := lineEnd(text, inner)
		outerEnd, outerAfter := lineEnd(file, at)
		begin := outerEnd - (end - inner)
		switch {
		case begin < at || !bytes.Equal(file[begin:outerEnd], text[inner:end]) || len(bytes.Trim(file[at:begin], " ")) > 0:
			return nil
		case end == inner: // an empty line may have less before it
		case indent < 0:
			indent = begin - at
		case indent != begin-at:
			return nil
		}
		found = append(found, struct{ inner, outer int }{inner, begin})
		if inner, at = after, outerAfter; inner == len(text) {
			found = append(found, struct{ inner, outer int }{inner, outerEnd})
		}
	}
	return found
}

// lineEnd returns where the line at an offset ends, and where the next one begins.
func lineEnd(text []byte, at int) (end, after int) {
	i := bytes.IndexByte(text[at:], '\n')
	if i < 0 {
		return len(text), len(text)
	}
	return at + len(bytes.TrimSuffix(text[at:at+i], []byte("\r"))), at + i + 1
}

// Span returns where a part of the text is in the file.
func (l BlockLines) Span(s source.Span) source.Span {
	return source.Span{Start: l.Offset(s.Start), End: l.Offset(s.End)}
}

// Offset returns where a byte of the text is in the file.
func (l BlockLines) Offset(inner int) int {
	low, high := 0, len(l)
	for high-low > 1 {
		if middle := (low + high) / 2; l[middle].inner <= inner {
			low = middle
		} else {
			high = middle
		}
	}
	return l[low].outer + inner - l[low].inner
}
