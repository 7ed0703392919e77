package lint

import (
	"bytes"

	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/tree"
)

// removeOnly leaves an empty collection: an empty block would be null.
func (s spot) removeOnly() Edits {
	empty := "{}"
	if s.In.Kind == tree.List {
		empty = "[]"
	}
	in := s.In.Span()
	if s.flow {
		before, after := s.text[in.Start+1:s.start], s.text[s.end:in.End-1]
		if bytes.IndexByte(before, '#') >= 0 || bytes.IndexByte(after, '#') >= 0 {
			return nil
		}
		return s.edit(source.Span{Start: in.Start, End: in.End}, empty)
	}
	end, _ := lineEnd(s.text, s.end)
	at := len(bytes.TrimRight(s.text[:s.start], " \t\r\n"))
	line := lineStart(s.text, at)
	if at > 0 && (s.text[at-1] == ':' || s.text[at-1] == '-') && bytes.IndexByte(s.text[line:at], '#') < 0 {
		return s.edit(source.Span{Start: at, End: end}, " "+empty)
	}
	if s.In.Kind == tree.List { // the list may be as deep as its key, but brackets must be deeper
		empty = " " + empty
	}
	return s.edit(source.Span{Start: s.start, End: end}, empty)
}

func (s spot) removeFlow() Edits {
	if s.Index == len(s.In.Items)-1 {
		gap := s.text[s.before():s.start]
		if !onlyComma(gap) || bytes.IndexByte(gap, '#') >= 0 {
			return nil
		}
		return s.edit(source.Span{Start: s.before(), End: s.withComment()}, "")
	}
	next := s.next().start
	gap := s.text[s.end:next]
	if !onlyComma(gap) {
		return nil
	}
	if bytes.IndexByte(gap, '#') < 0 {
		return s.edit(source.Span{Start: s.start, End: next}, "")
	}
	comma := s.end + bytes.IndexByte(gap, ',')
	line := lineStart(s.text, s.start)
	content, after := lineEnd(s.text, comma)
	if !blank(s.text[line:s.start]) || skipSpace(s.text, comma+1) < content || bytes.IndexByte(s.text[s.end:comma], '#') >= 0 {
		return nil
	}
	return s.edit(source.Span{Start: line, End: after}, "")
}

// withComment returns the end of the last element in brackets, or of the comment after it if they have their own line.
func (s spot) withComment() int {
	line := lineStart(s.text, s.start)
	content, _ := lineEnd(s.text, s.end)
	rest := bytes.TrimLeft(s.text[s.end:content], " \t")
	if blank(s.text[line:s.start]) && len(rest) > 0 && rest[0] == '#' {
		return content
	}
	return s.end
}

func (s spot) removeBlock() Edits {
	if s.Index > 0 && keeps(s.text[s.In.Items[s.Index-1].Span().Start:s.before()]) {
		return nil
	}
	line := lineStart(s.text, s.start)
	content, after := lineEnd(s.text, s.end)
	if blank(s.text[line:s.start]) {
		return s.edit(source.Span{Start: line, End: after}, "")
	}
	// It shares its line with the dash around it.
	next := s.next().start
	if lineStart(s.text, next) == after {
		return s.edit(source.Span{Start: s.start, End: next}, "")
	}
	return s.edit(source.Span{Start: len(bytes.TrimRight(s.text[:s.start], " ")), End: content}, "")
}
