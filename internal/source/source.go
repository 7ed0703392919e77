package source

import (
	"bytes"
	"sort"
	"sync"
	"unicode/utf8"
)

// File is one input. Text is nil for input without text (binary, live resources).
type File struct {
	Name string // as the user gave it
	Text []byte
	// Unrecognised: nothing in it is xDS. It may be anyone's file that a link leads to, so reports do not show its lines.
	Unrecognised bool

	once  sync.Once
	lines []int // offset of the start of each line

	counted sync.Once
	marks   []mark // one in each block of the text
}

// mark is a place up to which the runes of a file have been counted. Minified JSON is one line: counting from its start for each
// finding would take quadratic time.
type mark struct{ offset, runes int }

const block = 4096

// Span is a half-open range of byte offsets. The zero Span means that there is no place.
type Span struct{ Start, End int }

// IsZero reports whether the span is the zero Span.
func (s Span) IsZero() bool { return s == Span{} }

// Position is a place in a file, with a line and a column.
type Position struct {
	Line   int // from 1
	Column int // from 1, in runes
	Offset int // from 0, in bytes
}

func (f *File) index() []int {
	f.once.Do(func() {
		f.lines = append(f.lines, 0)
		for i := 0; ; {
			n := bytes.IndexByte(f.Text[i:], '\n')
			if n < 0 {
				return
			}
			i += n + 1
			f.lines = append(f.lines, i)
		}
	})
	return f.lines
}

// Lines returns the number of lines. A line break at the end of the text begins a last, empty line.
func (f *File) Lines() int { return len(f.index()) }

// Line returns line n (from 1) without its line break, and the offset where it starts.
func (f *File) Line(n int) (text []byte, start int) {
	lines := f.index()
	if n < 1 || n > len(lines) {
		return nil, len(f.Text)
	}
	start = lines[n-1]
	end := len(f.Text)
	if n < len(lines) {
		end = lines[n] - 1
	}
	return bytes.TrimSuffix(f.Text[start:end], []byte("\r")), start
}

// Position returns the line and the column of a byte offset. For an offset outside of the text it returns the nearest
// end of the text.
func (f *File) Position(offset int) Position {
	offset = min(max(offset, 0), len(f.Text))
	lines := f.index()
	n := sort.SearchInts(lines, offset+1)
	return Position{Line: n, Column: 1 + f.runes(lines[n-1], offset), Offset: offset}
}

// runes counts the runes between two offsets.
func (f *File) runes(start, end int) int {
	if end-start < block {
		return utf8.RuneCount(f.Text[start:end])
	}
	return f.runesBefore(end) - f.runesBefore(start)
}

func (f *File) runesBefore(offset int) int {
	f.counted.Do(func() {
		last := mark{}
		for next := 0; next <= len(f.Text); next += block {
			for i := 1; i < utf8.UTFMax && next < len(f.Text) && !utf8.RuneStart(f.Text[next]); i++ {
				next++
			}
			last = mark{next, last.runes + utf8.RuneCount(f.Text[last.offset:next])}
			f.marks = append(f.marks, last)
		}
	})
	i := sort.Search(len(f.marks), func(i int) bool { return f.marks[i].offset > offset }) - 1
	return f.marks[i].runes + utf8.RuneCount(f.Text[f.marks[i].offset:offset])
}

// Offset returns the byte offset of a line and a column in runes, both from 1.
func (f *File) Offset(line, column int) int {
	text, start := f.Line(line)
	for i := 1; i < column && len(text) > 0; i++ {
		_, size := utf8.DecodeRune(text)
		text, start = text[size:], start+size
	}
	return start
}
