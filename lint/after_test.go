package lint_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	"pgregory.net/rapid"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules"
)

// examples returns all resources in the examples of the rules.
func examples(t *testing.T) (all []*graph.Resource) {
	t.Helper()
	err := filepath.WalkDir("../testdata/rules", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".txtar" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, f := range txtar.Parse(data).Files {
			if !strings.HasSuffix(f.Name, ".yaml") || strings.HasPrefix(f.Name, "fixed/") {
				continue
			}
			in, err := load.Texts(t.Context(), map[string][]byte{"example.yaml": f.Data}, load.Options{})
			if err != nil {
				return err
			}
			for _, s := range in.Snapshots {
				all = append(all, s.Resources...)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// pushed is the file of resources that xDS delivers.
var pushed = &graph.SourceFile{Name: "pushed"}

// pooled returns resources of the examples as xDS delivers them. Many have the same names, so that references find something.
func pooled(t *testing.T) (pool []*graph.Resource) {
	for _, r := range examples(t) {
		if r.Message == nil || r.Kind == graph.Patch {
			continue
		}
		p := again(r)
		p.File, p.State = pushed, ""
		if r.Kind != graph.Bootstrap {
			p.Delivery, p.Source = graph.OverXDS, graph.Anywhere
		}
		pool = append(pool, p)
	}
	return pool
}

// again returns an equal resource.
func again(r *graph.Resource) *graph.Resource {
	made := r.As(r.Name, r.Message)
	made.Problems = r.Problems
	return made
}

// sources have resources of the same names.
var sources = []graph.Source{graph.Anywhere, graph.ADS, "api:xds", graph.PathSource("/etc/envoy/sds.yaml")}

type id struct {
	kind graph.Kind
	name string
}

func idOf(r *graph.Resource) id { return id{r.Kind, r.Name} }

// TestRunAfter: a run that takes from earlier ones what did not change finds the same as one that does not, after random changes.
func TestRunAfter(t *testing.T) {
	pool, named := pooled(t), map[id][]*graph.Resource{}
	for _, r := range pool {
		named[idOf(r)] = append(named[idOf(r)], r)
	}
	config := lint.Config{Rules: rules.Builtin()}
	reused, all := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		var resources []*graph.Resource
		insert := func(i int, label string, r *graph.Resource) { // seldom a second one of its name
			like := func(other *graph.Resource) bool { return idOf(other) == idOf(r) }
			if (r.Kind != graph.Bootstrap || label != "new") && !slices.ContainsFunc(resources, like) || rapid.IntRange(0, 50).Draw(t, "twice") == 0 {
				made := again(r)
				made.Source = rapid.SampledFrom(sources).Draw(t, "source")
				if rapid.IntRange(0, 3).Draw(t, "static") == 0 {
					made.Delivery, made.Source = graph.FromBootstrap, graph.Static
				}
				resources = slices.Insert(slices.Clone(resources), i, made)
			}
		}
		for range rapid.IntRange(5, 50).Draw(t, "examples") { // parts of them, which refer to each other
			begin := rapid.IntRange(0, len(pool)-1).Draw(t, "example")
			for _, r := range pool[begin:min(len(pool), begin+rapid.IntRange(1, 6).Draw(t, "resources"))] {
				insert(len(resources), "resource", r)
			}
		}
		closed := rapid.Bool().Draw(t, "closed")
		fresh := func() *graph.Snapshot {
			s := &graph.Snapshot{NoBootstrap: true, Resources: slices.Clone(resources)}
			for _, kind := range graph.Kinds() {
				if closed {
					s.Complete(kind, graph.Anywhere)
				}
			}
			s.Build()
			return s
		}
		s := fresh()
		_, judged := lint.RunAfter(t.Context(), s, config, nil)
		for range rapid.IntRange(1, 6).Draw(t, "pushes") {
			for range rapid.IntRange(0, 4).Draw(t, "changes") {
				i := rapid.IntRange(0, len(resources)-1).Draw(t, "place")
				if resources[i].Kind == graph.Bootstrap && rapid.IntRange(0, 3).Draw(t, "bootstrap") > 0 {
					continue
				}
				switch rapid.IntRange(0, 6).Draw(t, "change") {
				case 0:
					insert(i, "new", pool[rapid.IntRange(0, len(pool)-1).Draw(t, "new")])
				case 1:
					if len(resources) > 3 {
						resources = slices.Delete(slices.Clone(resources), i, i+1)
					}
				case 2:
					resources = slices.Clone(resources)
					resources[i] = again(resources[i])
				case 3: // elsewhere
					made := again(resources[i])
					resources = slices.Delete(slices.Clone(resources), i, i+1)
					resources = slices.Insert(resources, rapid.IntRange(0, len(resources)).Draw(t, "elsewhere"), made)
				case 4: // from another source
					resources = slices.Clone(resources)
					resources[i] = again(resources[i])
					resources[i].Source = rapid.SampledFrom(sources).Draw(t, "source")
				default: // another one of the same name
					same := named[idOf(resources[i])]
					resources = slices.Clone(resources)
					resources[i] = again(same[rapid.IntRange(0, len(same)-1).Draw(t, "successor")])
				}
			}
			before := s
			s = s.With(resources)
			all++
			if s.Since(before) != nil {
				reused++
			}
			plain := fresh()
			sameAnswers(t, s, plain)
			touchesWhatDiffers(t, before, s)
			var got *lint.Result
			got, judged = lint.RunAfter(t.Context(), s, config, judged)
			want := lint.Run(t.Context(), []*graph.Snapshot{plain}, config)
			if a, b := texts(got), texts(want); !slices.Equal(a, b) {
				t.Fatalf("got\n%s\nwant\n%s", strings.Join(a, "\n"), strings.Join(b, "\n"))
			}
		}
	})
	t.Logf("%d of %d snapshots were made from the one before", reused, all)
	if reused == 0 { // how many there are is up to chance
		t.Error("nothing was reused")
	}
}

func texts(r *lint.Result) (all []string) {
	for _, d := range r.Diagnostics {
		text := fmt.Sprintf("%s %s %s %q %p %s %v: %s %q %q %v %v %q %d", d.Severity, d.Rule.ID(), d.Resource.Kind, d.Resource.Name, d.Resource.Message, d.Path, d.Span,
			d.Message, d.Notes, d.Help, d.Fixes, d.Rejected, d.Upstream, d.More)
		for _, related := range d.Related {
			text += fmt.Sprintf("\n  %s %p %s %v", related.Message, related.Resource, related.Path, related.Span)
		}
		all = append(all, text)
	}
	for _, f := range r.Failures {
		all = append(all, f.Error())
	}
	return all
}
