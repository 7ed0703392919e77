package fastyaml

import (
	"testing"

	"pgregory.net/rapid"
)

// TestPlainBytes: a byte has the same effect wherever it is, whatever is around it.
func TestPlainBytes(t *testing.T) {
	odd := rapid.OneOf(rapid.SampledFrom([]byte{0, '\t', '\n', 0x0b, '\r', ' ' - 1, ' ', '~', 0x7f, 0x80, 0xff}), rapid.Byte())
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(rapid.StringMatching(`[ -~\n]{0,40}`).Draw(t, "text"))
		if len(text) == 0 {
			return
		}
		at, c := rapid.IntRange(0, len(text)-1).Draw(t, "at"), odd.Draw(t, "byte")
		text[at] = c
		if got, want := plainBytes(text), c >= 0x80 && c != 0xc2 || c == '\n' || ' ' <= c && c < 0x7f; c != 0xc2 && got != want {
			t.Fatalf("%q: %t", text, got)
		}
	})
}
