package reserve

import (
	"bytes"
	"strings"
	"testing"
)

// TestReading: what is in any text costs at least as much as reading it takes.
func TestReading(t *testing.T) {
	clusters := bytes.Repeat([]byte{0x12, 0}, 10)
	for _, text := range []string{
		"a: [" + strings.Repeat("1,", 10) + "1]",
		"{" + strings.Repeat("a: 1, ", 5) + "b: 1}",
		`{"a": {` + strings.Repeat(`"a": "\\", `, 4) + `"b": 1}}`,
		"a:" + strings.Repeat("\n- 1", 10),
		"static_resources {" + strings.Repeat("clusters{}", 10) + "}",
		"static_resources <" + strings.Repeat("clusters<>", 10) + ">",
		string(clusters),
		string([]byte{0x12, byte(len(clusters))}) + string(clusters),
		string(bytes.Repeat([]byte{0x13, 0x14}, 10)),
		"a: " + strings.Repeat("[", 10) + strings.Repeat("]", 10),
		"a: " + strings.Repeat("{b: ", 10) + strings.Repeat("}", 10),
		"a:\n" + strings.Repeat("- ", 11) + "1",
		"a:\n" + strings.Repeat("? ", 11) + "1",
		"a:\n" + strings.Repeat(": ", 21) + "1",
		strings.Repeat("- ", 10) + "{}",
		"a: [" + strings.Repeat("*a ", 10) + "]",
		"a: [" + strings.Repeat("''\t", 10) + "]",
		"a: [\n" + strings.Repeat("!a ", 10) + "\n]",
		strings.Repeat("-\r", 10),
		"a:\r" + strings.Repeat("-\u2028", 5) + strings.Repeat("-\u0085", 5),
		"\xff\xfe" + strings.Repeat("-\x00 \x00", 10),
	} {
		var got int64
		if !Reading(With(t.Context(), func(size int64) bool { got = size; return true }), []byte(text)) {
			t.Errorf("%q: there is too little memory", text)
		}
		if got < 10*perValue {
			t.Errorf("%q: %d", text, got)
		}
	}
}

// TestBlock: a literal block takes only what its lines are not enough for.
func TestBlock(t *testing.T) {
	for block, want := range map[string]int64{"a: 1\nb: [1, 1]\n": 0, `{"a": "b, c"}`: 0, strings.Repeat("b\taaaaaaaaa", 10): 9 * perValue} {
		got := int64(-1)
		if !Block(With(t.Context(), func(size int64) bool { got = size; return true }), []byte(block)) || got != want {
			t.Errorf("%q: %d bytes, want %d", block, got, want)
		}
	}
}

// TestOrdinary: no value is counted twice, and certificates and names are not taken for messages.
func TestOrdinary(t *testing.T) {
	for text, want := range map[string]int{
		"{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": {}\n}\n": 7,
		`{"a": "b, c: \"{", "d": 1}`:                           4,
		"a: 1\nb:\n- c: 2\n- d: [3, 4]\n":                      6,
		"- address_prefix: \"fd00:10:1:2:3:4::\"\n":            1,
		"a: |\n\n\n  b\n":                                      2,
	} {
		if got := ValuesIn([]byte(text)); got != want {
			t.Errorf("%q: %d values, want %d", text, got, want)
		}
	}
	text := "static_resources: {clusters: [{name: catalog-service-production}]}"
	if got := fields([]byte(text), 0); got > 10 {
		t.Errorf("%d fields", got)
	}
	if got := fields(bytes.Repeat([]byte{0x0a}, 3*maxDepth), 0); got > 3*maxDepth {
		t.Errorf("%d fields", got)
	}
}

func TestUnlimited(t *testing.T) {
	if !Reading(t.Context(), []byte("a: [1, 1]")) {
		t.Error("it is limited")
	}
}
