package redact

import (
	"slices"
	"testing"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/source"
)

// A file is searched once, however many findings are about the whole of it.
func TestManyFindingsAboutAFile(t *testing.T) {
	f := &source.File{Name: ".xdslint.yaml", Text: []byte("password: correct-horse-battery\n")}
	all := make([]*graph.Resource, 1000)
	for i := range all {
		all[i] = &graph.Resource{Kind: graph.File, Name: f.Name, File: f}
	}
	if known := NewFiles(slices.Values(all)).Of(f); len(known.spans) != 1 {
		t.Errorf("%d secrets are found, want 1", len(known.spans))
	}
}
