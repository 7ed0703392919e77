package load

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/prototext"

	"github.com/xdslint/xdslint/graph"
)

// TestOutline: what is read by an outline is what is read as a whole: messages, problems, and the places of all fields.
func TestOutline(t *testing.T) {
	outlined := 0
	for _, text := range append(examples(t), hard()...) {
		l := newLoader(t.Context(), Options{})
		l.given = map[string][]byte{"envoy.yaml": []byte(text)}
		if l.read(found{path: "envoy.yaml", named: true}).outlined {
			outlined++
		}
		// A comment with a tab leaves the text to the YAML library, which knows no outlines.
		if diff := cmp.Diff(described(t, "#\t\n"+text), described(t, "# \n"+text)); diff != "" {
			t.Errorf("- as a whole, + by its outline:\n%s\n%s", diff, text)
		}
	}
	if outlined < 10 {
		t.Errorf("only %d examples have an outline", outlined)
	}
}

// examples are the bootstraps of the project.
func examples(t *testing.T) (texts []string) {
	for _, root := range []string{"../../internal/difftest/seeds", "../../testdata/snapshots", "../../testdata/secrets", "../../examples", "../../web/src/examples"} {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && filepath.Ext(path) == ".yaml" {
				text, err := os.ReadFile(path)
				texts = append(texts, string(text))
				return err
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return texts
}

// hard returns texts that end where they are hard to read.
func hard() (texts []string) {
	for _, text := range []string{
		"  - name: b\n    connect_timeout: 1x\n    unknown: [1]\n  - 5\n  -\n  - - name: c\n",
		"  - name: \"b\n      c\"\n",
		"  - &b {name: b}\n  - *b\n",
		"  - name: b\n    bogus: {c: [d,\n     e]}\n",
		"  - name: b\n   - c\n",
		"  - name: |\n      b\n\n  # c\n  - {name: d, name: e}\n  secrets:\n    - name: f\n  listeners: [{name: g}]\n",
		"  - name: \"b\n  - c\n",
		"  - name: b\n    metadata: {filter_metadata: {a: {b: |\n  c}}}\n",
	} {
		texts = append(texts, "static_resources:\n  clusters:\n  - name: a\n"+text)
	}
	const broken = "static_resources:\n  clusters:\n  - name: b\n   type: EDS\n"
	return append(texts, broken+"  clusters:\n  - name: a\n", broken+"static_resources:\n  listeners:\n  - name: a\n", broken+"static_resources: {}\n")
}

// described says all that is known of a text's resources.
func described(t *testing.T, text string) (lines []string) {
	in, err := Texts(t.Context(), map[string][]byte{"envoy.yaml": []byte(text)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range in.Snapshots {
		for _, r := range s.Resources {
			lines = append(lines, fmt.Sprintf("%s %q", r.Kind, r.Name))
			if r.Message != nil {
				lines = append(lines, prototext.MarshalOptions{AllowPartial: true}.Format(r.Message))
			}
			if r.Text != nil {
				lines = append(lines, fmt.Sprint(r.Text.Span().Start))
			}
			for _, p := range r.Problems {
				lines = append(lines, fmt.Sprintf("%s at %s, %v", p.Message, p.Path, p.Span))
			}
			r.Walk(func(at *graph.Place) { lines = append(lines, fmt.Sprintf("%s at %v", at.Path, at.At().Span().Start)) })
		}
	}
	return lines
}

// A list that a later key replaces is read with its values: redaction looks at the whole text, and must find the secrets in it.
func TestShadowedOutline(t *testing.T) {
	in, err := Texts(t.Context(), map[string][]byte{"envoy.yaml": []byte("static_resources:\n  clusters:\n  - name: a\n  clusters: [{name: b}]\n")}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range in.Snapshots[0].Resources {
		if r.Kind == graph.Bootstrap && r.Text.Root().Get("static_resources").Items[0].Items[0].Get("name") == nil {
			t.Error("the first list of clusters is not read")
		}
	}
}
