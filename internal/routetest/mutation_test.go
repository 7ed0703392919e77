package routetest_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/edits"
	"github.com/xdslint/xdslint/internal/routetest"
	"github.com/xdslint/xdslint/internal/source"
)

func snapshot(t testing.TB, path string) *graph.Snapshot {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	in, err := load.Texts(t.Context(), map[string][]byte{"envoy.yaml": text}, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := in.One("envoy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func file(t *testing.T, text string) []*routetest.File {
	t.Helper()
	f, err := routetest.Read(&source.File{Name: "shop.test.yaml", Text: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	return []*routetest.File{f}
}

// TestMutate: the tests that are proposed hold, and with them, no edit is missed.
func TestMutate(t *testing.T) {
	s := snapshot(t, "../../testdata/walk/edge.yaml")
	tests := "tests:\n- given: {path: /nowhere, authority: shop.example.com}\n  expect: {cluster: null}\n"
	m, err := routetest.Mutate(s, file(t, tests))
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Missed) < 50 || m.NotTried > 0 {
		t.Fatalf("%d edits are missed, %d not tried", len(m.Missed), m.NotTried)
	}
	var all strings.Builder
	all.WriteString(tests)
	for _, u := range m.Missed {
		given, _ := json.Marshal(u.Given)
		expect, _ := json.Marshal(u.Expect)
		fmt.Fprintf(&all, "- name: %q\n  given: %s\n  expect: %s\n", u.Field+" "+u.Edit, given, expect)
	}
	with := file(t, all.String())
	report, err := routetest.Run(s, with)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range report.Results {
		for _, f := range r.Failures {
			t.Errorf("%s: %s", r.Name, f.Message())
		}
	}
	again, err := routetest.Mutate(s, with)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range again.Missed {
		t.Errorf("still missed: %s: %s", u.Field, u.Edit)
	}
	if again.Noticed != m.Noticed+len(m.Missed) || again.Idle != m.Idle {
		t.Errorf("%d noticed and %d without effect, after %d, %d and %d", again.Noticed, again.Idle, m.Noticed, len(m.Missed), m.Idle)
	}
}

// TestEditsAreUndone: after each edit, every message is as before.
func TestEditsAreUndone(t *testing.T) {
	s := snapshot(t, "../../testdata/walk/edge.yaml")
	before := snapshot(t, "../../testdata/walk/edge.yaml")
	all := edits.Of(s)
	for _, e := range all {
		edited, undo := e.Do(s)
		if same(edited, before) {
			t.Errorf("%s %s: nothing is edited", e.At.Path(), e.What)
		}
		undo()
		if !same(s, before) {
			t.Fatalf("%s %s: the edit is not undone", e.At.Path(), e.What)
		}
	}
}

// same reports whether all resources, with what their Anys hold, are the same.
func same(a, b *graph.Snapshot) bool {
	for i, r := range a.Resources {
		if !proto.Equal(r.CanonicalOf(r.Message), b.Resources[i].CanonicalOf(b.Resources[i].Message)) {
			return false
		}
	}
	return true
}
