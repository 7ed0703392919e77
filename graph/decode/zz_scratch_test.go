package decode

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/xdslint/xdslint/graph/source"
)

func TestZZ(t *testing.T) {
	files, _ := filepath.Glob("/tmp/load/cases/*.yaml")
	plain := 0
	for _, f := range files {
		text, _ := os.ReadFile(f)
		p := parsePlain(text)
		if p == nil {
			continue
		}
		plain++
		docs, err := parseYAML(&source.File{Text: text})
		if err != nil || len(docs) != 1 {
			t.Error(f, err)
			continue
		}
		if diff := cmp.Diff(spans(docs[0]), spans(p), cmp.AllowUnexported(Node{}, Key{}), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s %.600s", f, diff)
		}
	}
	fmt.Println(len(files), plain)
}
