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
		"a:" + strings.Repeat("\n- 1", 10),
		"static_resources {" + strings.Repeat("clusters{}", 10) + "}",
		"static_resources <" + strings.Repeat("clusters<>", 10) + ">",
		string(clusters),
		string([]byte{0x12, byte(len(clusters))}) + string(clusters),
		string(bytes.Repeat([]byte{0x13, 0x14}, 10)),
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

// TestOrdinary: certificates and names are not taken for messages.
func TestOrdinary(t *testing.T) {
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
