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
	Text []byte // never changes: what is read from it shares its bytes
	// Unrecognised: nothing in it is xDS. It may be anyone's file that a link leads to, so reports do not show its lines.
	Unrecognised bool

	once  sync.Once
	marks []mark
}

// mark is a place up to which a file has been counted. A file is one line, or nothing but lines: counting from the
// beginning, or keeping the start of each line, could cost far more than the text.
type mark struct {
	offset, line, begin int // line counts from 0, and begins there
	runes, units        int // before offset, the latter in UTF-16
}

// block is the distance between marks, in bytes.
const block = 512

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

func (f *File) index() []mark {
	f.once.Do(func() {
		last := mark{}
		f.marks = append(make([]mark, 0, 1+len(f.Text)/block), last)
		for next := block; next < len(f.Text); next += block {
			for i := 1; i < utf8.UTFMax && next < len(f.Text) && !utf8.RuneStart(f.Text[next]); i++ {
				next++
			}
			last = f.advanced(last, next)
			f.marks = append(f.marks, last)
		}
	})
	return f.marks
}

// advanced moves a mark forward.
func (f *File) advanced(m mark, offset int) mark {
	part := f.Text[m.offset:offset]
	if n := bytes.Count(part, newline); n > 0 {
		m.line, m.begin = m.line+n, m.offset+bytes.LastIndexByte(part, '\n')+1
	}
	m.offset = offset
	runes := utf8.RuneCount(part)
	m.runes, m.units = m.runes+runes, m.units+runes+astral(part)
	return m
}

var newline = []byte{'\n'}

// astral counts the runes that take two units in UTF-16.
func astral(text []byte) (n int) {
	for i, c := range text {
		if c >= 0xF0 {
			if r, _ := utf8.DecodeRune(text[i:]); r > 0xFFFF {
				n++
			}
		}
	}
	return n
}

// last returns the last mark that is not behind something.
func (f *File) last(behind func(m *mark) bool) mark {
	marks := f.index()
	return marks[max(0, sort.Search(len(marks), func(i int) bool { return behind(&marks[i]) })-1)]
}

// at counts the file up to an offset.
func (f *File) at(offset int) mark {
	offset = min(max(offset, 0), len(f.Text))
	return f.advanced(f.last(func(m *mark) bool { return m.offset > offset }), offset)
}

// Lines returns the number of lines. A line break at the end of the text begins a last, empty line.
func (f *File) Lines() int { return 1 + f.at(len(f.Text)).line }

// Line returns line n (from 1) without its line break, and the offset where it starts.
func (f *File) Line(n int) (text []byte, start int) {
	start, ok := f.begin(n)
	if !ok {
		return nil, len(f.Text)
	}
	end := len(f.Text)
	if next, ok := f.begin(n + 1); ok {
		end = next - 1
	}
	return bytes.TrimSuffix(f.Text[start:end], []byte("\r")), start
}

// begin returns the offset where line n (from 1) starts, and whether there is such a line.
func (f *File) begin(n int) (int, bool) {
	if n <= 1 {
		return 0, n == 1
	}
	m := f.last(func(m *mark) bool { return m.line >= n-1 })
	at := m.offset
	for line := m.line; line < n-1; line++ {
		i := bytes.IndexByte(f.Text[at:], '\n')
		if i < 0 {
			return 0, false
		}
		at += i + 1
	}
	return at, true
}

// Position returns the line and the column of a byte offset. For an offset outside of the text it returns the nearest
// end of the text.
func (f *File) Position(offset int) Position {
	m := f.at(offset)
	return Position{Line: m.line + 1, Column: 1 + m.runes - f.at(m.begin).runes, Offset: m.offset}
}

// UTF16 returns the line and the column of a byte offset, both from 1, the column in UTF-16 code units.
func UTF16(f *File, offset int) (line, column int) {
	m := f.at(offset)
	return m.line + 1, 1 + m.units - f.at(m.begin).units
}

// Offset returns the byte offset of a line and a column in runes, both from 1.
func (f *File) Offset(line, column int) int {
	text, start := f.Line(line)
	return min(Forward(f, start, column-1), start+len(text))
}

// Forward returns the offset behind so many runes from an offset.
func Forward(f *File, offset, runes int) int {
	if runes > block {
		want := f.at(offset).runes + runes
		m := f.last(func(m *mark) bool { return m.runes > want })
		offset, runes = m.offset, want-m.runes
	}
	for ; runes > 0 && offset < len(f.Text); runes-- {
		_, size := utf8.DecodeRune(f.Text[offset:])
		offset += size
	}
	return offset
}
