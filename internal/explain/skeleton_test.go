package explain_test

import (
	"io/fs"
	"strings"
	"testing"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"

	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/explain"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules"
	"github.com/xdslint/xdslint/testdata"
)

const part = "# in: cluster\nconnect_timeout: 1s\n\n# a comment\nlb_policy: RING_HASH\n"

func TestSkeleton(t *testing.T) {
	f := explain.File{Name: "bad.yaml", Text: part}
	whole := f.Whole()
	if !strings.Contains(whole, "  - name: shop\n    # in: cluster\n    connect_timeout: 1s\n\n    # a comment\n    lb_policy: RING_HASH\n    load_assignment:") {
		t.Errorf("the whole is\n%s", whole)
	}
	if text, err := f.Fixed(whole); text != part || err != nil {
		t.Errorf("%v, and what stands in it is\n%s", err, text)
	}
	if text, err := f.Fixed(strings.Replace(whole, "RING_HASH", "MAGLEV", 1)); text != strings.Replace(part, "RING_HASH", "MAGLEV", 1) || err != nil {
		t.Errorf("%v, and what stands in it is\n%s", err, text)
	}
	if _, err := f.Fixed(strings.Replace(whole, "name: shop", "name: other", 1)); err == nil {
		t.Error("the skeleton is changed without a word")
	}
	plain := explain.File{Name: "bad.yaml", Text: "# in a cluster\n"}
	if text, err := plain.Fixed(plain.Whole()); plain.Whole() != plain.Text || text != plain.Text || err != nil {
		t.Errorf("%v, and an example without a skeleton became\n%s", err, text)
	}
	unknown := explain.File{Name: "bad.yaml", Text: "# in: clutser\n"}
	if _, err := unknown.Skeleton(); err == nil || !strings.Contains(err.Error(), `"clutser"`) {
		t.Errorf("the error is %v", err)
	}
}

// TestShown points to a field of a part, and to one around it.
func TestShown(t *testing.T) {
	f := explain.File{Name: "bad.yaml", Text: part}
	input, err := load.Texts(t.Context(), map[string][]byte{f.Name: []byte(f.Whole())}, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	pointing := func(field string) *lint.Result {
		rule := &lint.Rule{Group: "a", Name: "b", Severity: lint.Error, Run: lint.Each(func(p *lint.Pass, at lint.At, _ *clusterv3.Cluster) {
			p.Reportf(at.Field(field), "here")
		})}
		return lint.Run(t.Context(), input.Snapshots, lint.Config{Rules: []*lint.Rule{rule}})
	}
	shown, err := explain.Shown(pointing("lb_policy"), []explain.File{f})
	if err != nil {
		t.Fatal(err)
	}
	d := shown.Diagnostics[0]
	if at := d.Resource.File.Position(d.Span.Start); at.Line != 5 || at.Column != 12 || part[d.Span.Start:d.Span.End] != "RING_HASH" {
		t.Errorf("%+v: %q", at, part[d.Span.Start:d.Span.End])
	}
	if _, err := explain.Shown(pointing("load_assignment"), []explain.File{f}); err == nil || !strings.Contains(err.Error(), `the skeleton "cluster"`) {
		t.Errorf("the error is %v", err)
	}
}

// TestSkeletons: there are no findings in a skeleton.
func TestSkeletons(t *testing.T) {
	paths, err := fs.Glob(testdata.Rules, "skeletons/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		text, err := fs.ReadFile(testdata.Rules, path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Count(string(text), "# example\n") != 1 {
			t.Errorf("%s: one line has to be \"# example\"", path)
		}
		input, err := load.Texts(t.Context(), map[string][]byte{path: text}, load.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range lint.Run(t.Context(), input.Snapshots, lint.Config{Rules: rules.Builtin()}).Diagnostics {
			t.Errorf("%s: %s: %s", path, d.Rule.ID(), d.Message)
		}
	}
}
