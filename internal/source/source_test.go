package source_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/xdslint/xdslint/internal/source"
)

// TestColumns: columns count from the start of the line, however long it is.
func TestColumns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.SampledFrom([]string{"a", "é", "語", "🦊", "ab é\n", "\r\n"})
		var text strings.Builder
		for range rapid.IntRange(0, 6).Draw(t, "pieces") {
			text.WriteString(strings.Repeat(unit.Draw(t, "unit"), rapid.IntRange(0, 5000).Draw(t, "times")))
		}
		f := &source.File{Text: []byte(text.String())}
		for range 20 {
			offset := rapid.IntRange(0, len(f.Text)).Draw(t, "offset")
			for offset < len(f.Text) && !utf8.RuneStart(f.Text[offset]) {
				offset++
			}
			before := text.String()[:offset]
			want := source.Position{
				Line:   1 + strings.Count(before, "\n"),
				Column: 1 + utf8.RuneCountInString(before[strings.LastIndex(before, "\n")+1:]),
				Offset: offset,
			}
			if got := f.Position(offset); got != want {
				t.Fatalf("offset %d is at %+v, want %+v", offset, got, want)
			}
		}
	})
}

// TestPlaces: lines, offsets and UTF-16 columns are those of a search from the beginning of the text.
func TestPlaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.SampledFrom([]string{"a", "é", "🦊", "\n", "ab é\n", "\r\n"})
		var text strings.Builder
		for range rapid.IntRange(0, 6).Draw(t, "pieces") {
			text.WriteString(strings.Repeat(unit.Draw(t, "unit"), rapid.IntRange(0, 1500).Draw(t, "times")))
		}
		f := &source.File{Text: []byte(text.String())}
		lines := strings.Split(text.String(), "\n")
		if f.Lines() != len(lines) {
			t.Fatalf("%d lines, want %d", f.Lines(), len(lines))
		}
		for range 20 {
			n := rapid.IntRange(1, len(lines)).Draw(t, "line")
			want := strings.TrimSuffix(lines[n-1], "\r")
			begin := len(strings.Join(lines[:n-1], "\n")) + min(1, n-1)
			if got, start := f.Line(n); string(got) != want || start != begin {
				t.Fatalf("line %d is %q at %d, want %q at %d", n, got, start, want, begin)
			}
			column := rapid.IntRange(1, 2000).Draw(t, "column")
			runes := []rune(want)
			before := string(runes[:min(column-1, len(runes))])
			if got := f.Offset(n, column); got != begin+len(before) {
				t.Fatalf("%d:%d is at %d, want %d", n, column, got, begin+len(before))
			}
			if _, got := source.UTF16(f, begin+len(before)); got != 1+len(utf16.Encode([]rune(before))) {
				t.Fatalf("%d:%d is UTF-16 column %d", n, column, got)
			}
		}
	})
}

// TestIndex: the index is small, however many lines there are, and a place costs no search in a long line.
func TestIndex(t *testing.T) {
	for name, text := range map[string][]byte{"lines": bytes.Repeat([]byte("\n"), 1<<20), "one line": make([]byte, 1<<20)} {
		f := &source.File{Text: text}
		index := testing.Benchmark(func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				(&source.File{Text: text}).Position(len(text))
			}
		})
		if n := index.AllocedBytesPerOp(); n > int64(len(text))/4 {
			t.Errorf("%s: the index takes %d bytes", name, n)
		}
		if n := testing.AllocsPerRun(10, func() { f.Line(f.Position(len(text) / 2).Line) }); n > 0 {
			t.Errorf("%s: a place takes %v allocations", name, n)
		}
	}
}

func BenchmarkOneLine(b *testing.B) {
	f := &source.File{Text: make([]byte, 5<<20)}
	for b.Loop() {
		f.Line(f.Position(4 << 20).Line)
		source.UTF16(f, 4<<20)
	}
}
