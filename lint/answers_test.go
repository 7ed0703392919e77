package lint_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
	"pgregory.net/rapid"

	"github.com/xdslint/xdslint/graph"
)

// answer is one of a snapshot, with the questions that it noted.
type answer struct {
	text  string
	notes []graph.Question
}

// asking asks a snapshot all that a rule can ask, about the resources of several.
type asking struct {
	view    graph.View
	notes   []graph.Question
	held    []*graph.Resource // that a rule can have found
	answers map[string]answer
}

func (a *asking) ask(what string, f func() string) {
	a.notes = nil
	text := f()
	a.answers[what] = answer{text, a.notes}
}

func answersOf(s *graph.Snapshot, held []*graph.Resource, about ...*graph.Snapshot) map[string]answer {
	a := &asking{held: held, answers: map[string]answer{}}
	a.view = s.Asked(func(q graph.Question) { a.notes = append(a.notes, q) })
	v := a.view
	a.ask("all", func() string { return listed(v.All()) })
	a.ask("decoded", func() string { return listed(v.Decoded()) })
	a.ask("references", func() string { return listedEdges(v.References()) })
	a.ask("bootstrap", func() string {
		b, r := v.Bootstrap()
		return fmt.Sprintf("%v %v %v %v", b, r != nil, v.Dumped(), v.Partial())
	})
	for _, kind := range graph.Kinds() {
		a.ask(fmt.Sprintf("all %s", kind), func() string { return listed(v.All(kind)) })
		a.ask(fmt.Sprintf("names of %s", kind), func() string { return fmt.Sprintf("%q", v.Names(kind)) })
		a.ask(fmt.Sprintf("references to %s", kind), func() string { return listedEdges(v.References(kind)) })
		a.ask(fmt.Sprintf("world of %s", kind), func() string {
			return fmt.Sprint(v.World(kind, graph.ADS), v.World(kind, graph.Anywhere), v.Unread(kind), v.Opened(kind))
		})
	}
	for _, other := range about {
		a.aboutEach(other)
	}
	return a.answers
}

// aboutEach asks about each resource of a snapshot, its names, fields and types.
func (a *asking) aboutEach(other *graph.Snapshot) {
	v := a.view
	for _, r := range other.Resources {
		a.ask(fmt.Sprintf("named %s %q", r.Kind, r.Name), func() string { return listed(v.Named(r.Kind, r.Name)) })
		a.ask(fmt.Sprintf("pushed %s %q", r.Kind, r.Name), func() string { return fmt.Sprintf("%p", v.Pushed(r.Kind, r.Name)) })
		a.ask(fmt.Sprintf("find %s %q", r.Kind, r.Name), func() string { return fmt.Sprintf("%p", v.Find(r.Kind, r.Source, r.Name)) })
		a.ask(fmt.Sprintf("booted %s %q", r.Kind, r.Name), func() string { return fmt.Sprintf("%p", v.Booted(r.Kind, r.Name)) })
		if !slices.Contains(a.held, r) {
			continue
		}
		a.ask(fmt.Sprintf("from %p", r), func() string { return listedEdges(v.From(r)) })
		a.ask(fmt.Sprintf("to %p", r), func() string { return listedEdges(v.To(r)) })
		a.ask(fmt.Sprintf("serves %p", r), func() string { return fmt.Sprint(v.Serves(r)) })
	}
	for _, r := range other.Resources {
		r.Walk(func(at *graph.Place) { a.places(at.Message.Descriptor().FullName()) })
	}
	for _, e := range other.References() {
		what := fmt.Sprintf("references in %s", e.Field)
		if _, known := a.answers[what]; !known {
			a.ask(what, func() string { return listedEdges(v.ReferencesIn(e.Field)) })
		}
		if e.Kind == graph.HTTPFilter {
			a.ask(fmt.Sprintf("filters for %p", e.Place), func() string { return listed(v.FilterChoices(e)) })
		}
	}
}

func (a *asking) places(name protoreflect.FullName) {
	what := fmt.Sprintf("places of %s", name)
	if _, known := a.answers[what]; !known {
		a.ask(what, func() string { return listed(a.view.Places(name)) })
	}
}

func listed[T any](all []*T) string {
	var text strings.Builder
	for _, one := range all {
		fmt.Fprintf(&text, "%p\n", one)
	}
	return text.String()
}

func listedEdges(edges []*graph.Edge) string {
	var text strings.Builder
	for _, e := range edges {
		fmt.Fprintf(&text, "%p %p %s %s %s %q %q → %p\n", e.From, e.Place, e.Path, e.Field, e.Kind, e.Source, e.Target, e.To)
	}
	return text.String()
}

// touchesWhatDiffers: an answer that differs from that of the snapshot before is to a question that the change touched.
func touchesWhatDiffers(t rapid.TB, before, after *graph.Snapshot) {
	delta := after.Since(before)
	if delta == nil {
		return
	}
	added := func(r *graph.Resource) bool { return slices.Contains(delta.Added, r) }
	both := slices.DeleteFunc(slices.Clone(after.Resources), added) // others are found by questions that are touched
	was, is := answersOf(before, both, before, after), answersOf(after, both, before, after)
	for what, a := range was {
		touched := slices.ContainsFunc(a.notes, func(q graph.Question) bool { return delta.Touched[q] })
		if b := is[what]; a.text != b.text && !touched {
			t.Fatalf("%s differs, and no question is touched:\n%s\nnow\n%s", what, a.text, b.text)
		}
	}
}

// sameAnswers: a snapshot that was made from another one answers as one that was built.
func sameAnswers(t rapid.TB, made, built *graph.Snapshot) {
	got := answersOf(made, built.Resources, built)
	for what, want := range answersOf(built, built.Resources, built) {
		if g := got[what]; g.text != want.text {
			t.Fatalf("%s: got\n%s\nwant\n%s", what, g.text, want.text)
		}
	}
}

// TestEachReplaced: as TestRunAfter, for the resources of the examples, one after the other.
func TestEachReplaced(t *testing.T) {
	pool, made := pooled(t), 0
	for some := range slices.Chunk(pool, 6) {
		s := built(some)
		for i := range some {
			next := slices.Clone(some)
			next[i] = again(some[i])
			after := s.With(next)
			if after.Since(s) == nil {
				continue
			}
			made++
			sameAnswers(t, after, built(next))
			touchesWhatDiffers(t, s, after)
		}
	}
	if made < len(pool)/4 {
		t.Errorf("only %d of %d snapshots were made from the one before", made, len(pool))
	}
}

func built(resources []*graph.Resource) *graph.Snapshot {
	s := &graph.Snapshot{NoBootstrap: true, Resources: resources}
	s.Build()
	return s
}
