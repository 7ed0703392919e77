package playground

import (
	"testing"

	"github.com/xdslint/xdslint/lint"
)

// TestFailure: if a rule panics, all other rules still report their findings, and the answer names the rule.
func TestFailure(t *testing.T) {
	broken := (&lint.Group{Name: "test"}).Add(&lint.Rule{Name: "broken", Run: lint.ForSnapshot(func(*lint.Pass) { panic("oops") })})
	p := (&request{engine: &Engine{}}).project(map[string]string{"a.yaml": "node: {id: 42}\n"})
	p.settings.Custom = append(p.settings.Custom, broken)
	l, err := p.linter(nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Lint(t.Context(), p.input())
	if err != nil {
		t.Fatal(err)
	}
	answer := p.answer(r)
	if len(answer.Failures) != 1 || answer.Failures[0].Rule != "test/broken" || answer.Summary.Failures != 1 || len(answer.Diagnostics) == 0 {
		t.Errorf("%+v", answer)
	}
}
