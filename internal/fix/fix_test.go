package fix_test

import (
	"bytes"
	"testing"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/fix"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/lint"
)

var rule = (&lint.Group{Name: "test"}).Add(&lint.Rule{Name: "rule", Severity: lint.Error})

func finding(message string, safe bool, edits ...lint.Edit) lint.Diagnostic {
	return lint.Diagnostic{Rule: rule, Severity: lint.Error, Message: message, Fixes: []lint.Fix{{Message: message, Safe: safe, Edits: edits}}}
}

func change(start, end int, text string) lint.Edit {
	return lint.Edit{Span: source.Span{Start: start, End: end}, New: text}
}

func TestApply(t *testing.T) {
	const text = "a: 1\nb: 2\nc: 3\n"
	for name, c := range map[string]struct {
		found   []lint.Diagnostic
		unsafe  bool
		want    string
		applied int
	}{
		"two":                        {[]lint.Diagnostic{finding("x", true, change(13, 14, "x")), finding("y", true, change(3, 4, "yy"))}, false, "a: yy\nb: 2\nc: x\n", 2},
		"the same twice":             {[]lint.Diagnostic{finding("x", true, change(3, 4, "x")), finding("y", true, change(3, 4, "x"))}, false, "a: x\nb: 2\nc: 3\n", 1},
		"overlapping":                {[]lint.Diagnostic{finding("x", true, change(0, 4, "x")), finding("y", true, change(3, 4, "y"))}, false, "x\nb: 2\nc: 3\n", 1},
		"one half overlaps":          {[]lint.Diagnostic{finding("x", true, change(3, 4, "x")), finding("y", true, change(3, 4, "y"), change(8, 9, "y"))}, false, "a: x\nb: 2\nc: 3\n", 1},
		"two neighbours are deleted": {[]lint.Diagnostic{finding("x", true, change(0, 5, "")), finding("y", true, change(5, 10, ""))}, false, "b: 2\nc: 3\n", 1},
		"unsafe":                     {[]lint.Diagnostic{finding("x", false, change(3, 4, "x"))}, false, text, 0},
		"unsafe, asked for":          {[]lint.Diagnostic{finding("x", false, change(3, 4, "x"))}, true, "a: x\nb: 2\nc: 3\n", 1},
		"outside of the text":        {[]lint.Diagnostic{finding("x", true, change(3, 99, "x"))}, false, text, 0},
		"none":                       {nil, true, text, 0},
	} {
		fixed, applied := fix.Apply([]byte(text), c.found, c.unsafe)
		if string(fixed) != c.want || applied != c.applied {
			t.Errorf("%s: %d applied:\n%s\nwant %d:\n%s", name, applied, fixed, c.applied, c.want)
		}
	}
}

// judge finds each "!", with a fix that writes an "x", and each "?", with a fix that does harm.
func judge(texts map[string][]byte) (*lint.Result, error) {
	text := []byte("! ? ! ? !\n")
	if fixed, ok := texts["file"]; ok {
		text = fixed
	}
	r := &graph.Resource{Kind: graph.Cluster, File: &source.File{Name: "file", Text: text}}
	result := &lint.Result{}
	if !bytes.Contains(text, []byte("broken")) {
		result.Snapshots = []*graph.Snapshot{{Resources: []*graph.Resource{r}}}
	}
	for i, c := range text {
		d, ok := map[byte]lint.Diagnostic{
			'!': finding("is fixed", true, change(i, i+1, "x")),
			'?': finding("is worse fixed", true, change(i, i+1, "##")),
			'%': finding("breaks the file", true, change(i, i+1, "broken")),
			'#': finding("is new", false),
		}[c]
		if ok {
			d.Resource = r
			result.Diagnostics = append(result.Diagnostics, d)
		}
	}
	return result, nil
}

func TestHarmIsContained(t *testing.T) {
	for text, want := range map[string]string{"": "x ? x ? x\n", "% !\n": "% x\n", "? !\n": "? x\n"} {
		runs := 0
		outcome, err := fix.Rounds(fix.Work{
			Lint: func(texts map[string][]byte) (*lint.Result, error) {
				if runs++; texts["file"] == nil && text != "" {
					texts = map[string][]byte{"file": []byte(text)}
				}
				return judge(texts)
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := string(outcome.After["file"]); got != want {
			t.Errorf("fixed to %q, want %q", got, want)
		}
		if left := outcome.Result.Snapshots[0].Resources[0].File.Text; string(left) != want {
			t.Errorf("the result is of %q", left)
		}
		if runs > 15 {
			t.Errorf("%d runs", runs)
		}
	}
}

// TestOthersStay: a file without a key is not changed.
func TestOthersStay(t *testing.T) {
	outcome, err := fix.Rounds(fix.Work{Lint: judge, Key: func(*source.File) string { return "" }})
	if err != nil || outcome.Applied > 0 || len(outcome.After) > 0 {
		t.Errorf("%v, %v", outcome, err)
	}
}
