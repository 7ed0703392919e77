package source_test

import (
	"strings"
	"testing"
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
