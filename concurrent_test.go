package xdslint_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/xdslint/xdslint"
)

// TestConcurrent: goroutines that share a linter, or what one of them has read, find what one alone finds. What they share is not changed, as the
// race detector would say.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	l := linter(t, "", xdslint.Options{Targets: []string{"envoy:1.36", "envoy:1.40"}})
	paths := xdslint.Paths("testdata/walk", "testdata/posture", "testdata/manifests")
	read, err := l.Load(t.Context(), paths)
	if err != nil {
		t.Fatal(err)
	}
	edge := xdslint.Paths("testdata/walk/edge.yaml")
	loaded, err := l.Load(t.Context(), edge)
	if err != nil {
		t.Fatal(err)
	}
	judge := func(in, one xdslint.Input) string {
		report, err := l.Lint(t.Context(), in)
		if err != nil {
			return err.Error()
		}
		var b strings.Builder
		if err := report.Write(&b, "json"); err != nil {
			return err.Error()
		}
		verdicts, err := l.Verdict(t.Context(), edge)
		if err != nil {
			return err.Error()
		}
		planned, err := l.Plan(t.Context(), one, one, xdslint.PlanOptions{})
		if err != nil {
			return err.Error()
		}
		text, err := json.Marshal(planned.Plan)
		return fmt.Sprintf("%s\n%v\n%s\n%v", &b, verdicts, text, err)
	}
	want := judge(paths, edge)
	if !strings.Contains(want, `"rule"`) {
		t.Fatalf("nothing is found:\n%s", want)
	}
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			in, one := xdslint.Loaded(read), xdslint.Loaded(loaded)
			if i%3 == 2 {
				in, one = paths, edge
			}
			if got := judge(in, one); got != want {
				t.Errorf("goroutine %d found something else:\n%s\nwant\n%s", i, got, want)
			}
		})
	}
	all.Wait()
}
