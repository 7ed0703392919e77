package playground

import (
	"testing"

	"github.com/xdslint/xdslint/internal/report"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules"
)

// TestFailure: a rule that panics takes nothing from the others, and the answer says which it was.
func TestFailure(t *testing.T) {
	broken := (&lint.Group{Name: "test"}).Add(&lint.Rule{Name: "broken", Run: lint.ForSnapshot(func(*lint.Pass) { panic("oops") })})
	p := new(request).project(map[string]string{"a.yaml": "node: {id: 42}\n"})
	c, err := p.choose(nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Rules = append(rules.All(), broken)
	result, input, _, err := p.lint(t.Context(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer := p.answer(&report.Report{Result: result}, input)
	if len(answer.Failures) != 1 || answer.Failures[0].Rule != "test/broken" || answer.Summary.Failures != 1 || len(answer.Diagnostics) == 0 {
		t.Errorf("%+v", answer)
	}
}
