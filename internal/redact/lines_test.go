package redact

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestAssignmentIn compares with an expression that says the same, and takes a second for each megabyte.
func TestAssignmentIn(t *testing.T) {
	all := anyWord + "|" + strings.NewReplacer("inline", "inline_?").Replace(strings.Join(textKeys, "|"))
	slow := regexp.MustCompile(`(?i)([\w.-]*(?:` + all + `))["']?[ \t\f\r]*[:=][ \t\f\r]*(\S.*)`)
	part := rapid.SampledFrom(append([]string{
		"api", "key", "private", "inline", "string", "TOKEN", "x", "é", "_", "-", ".", " ", "\t", ":", "=", `"`, "'", ",", "{", "}", "[redacted]", "v1", "\x00",
	}, append(words, textKeys...)...))
	rapid.Check(t, func(t *rapid.T) {
		line := strings.Join(rapid.SliceOfN(part, 0, 12).Draw(t, "parts"), "")
		want := slow.FindStringSubmatch(strings.TrimRight(line, " \t\r\n"))
		got := assignmentIn([]byte(line))
		switch {
		case want == nil:
			if got != nil && !strings.ContainsAny(string(got.key), "-_") { // dashes are allowed within words
				t.Fatalf("%q: found %q", line, got.key)
			}
		case got == nil:
			t.Fatalf("%q: %q is not found", line, want[1])
		case len(got.value) < len(want[2]) || !strings.HasSuffix(line, string(got.value)+line[got.at+len(got.value):]):
			t.Fatalf("%q: the value is %q at %d, not %q", line, got.value, got.at, want[2])
		}
	})
}

func BenchmarkLines(b *testing.B) {
	text := []byte(strings.Repeat(`{"name":"cart","type":"EDS","eds_cluster_config":{"eds_config":{"ads":{}}},"connect_timeout":"1s"},`, 10_000))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if assigns(text) {
			b.Fatal("a secret is found")
		}
	}
}
