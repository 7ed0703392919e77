package load

import (
	"strings"
	"testing"

	"github.com/xdslint/xdslint/graph"
)

// TestNamesInErrors: an error has one line, whatever files are named.
func TestNamesInErrors(t *testing.T) {
	const name = "a\n\x1b\u202eb"
	in := &Input{Snapshots: []*graph.Snapshot{{Name: name}, {Name: name}}}
	_, several := in.One(name)
	_, nothing := (&Input{}).One(name)
	for _, text := range []string{
		several.Error(), nothing.Error(),
		Placed(&graph.SourceFile{Name: name}, graph.Problem{Message: "it is empty"}),
		Placed(&graph.SourceFile{Name: name, Text: []byte("x")}, graph.Problem{Message: "it is broken"}),
	} {
		if !strings.Contains(text, `"a\n\x1b\u202eb"`) || strings.ContainsAny(text, "\n\x1b\u202e") {
			t.Errorf("%q", text)
		}
	}
}
