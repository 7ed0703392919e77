package custom

import (
	"fmt"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

// maxCost bounds one evaluation of an expression, in CEL's units: looking at a field or comparing two numbers costs about one, an element of a list a few.
// It takes some tens of milliseconds to use them up.
const maxCost = 1_000_000

// maxTotal bounds all evaluations of an expression in a run: some seconds.
const maxTotal = 100 * maxCost

var tooMuch = &lint.EvalError{
	Message: "costs more than a hundred million steps in all",
	Help:    "let the expression look at less: snapshot.find(KIND, NAME) finds a resource without going through all of them",
}

// scope is what an expression sees.
type scope struct {
	this     any
	resource resource
}

// ResolveName implements cel.Activation.
func (s scope) ResolveName(name string) (any, bool) {
	switch name {
	case "this":
		return s.this, true
	case "resource":
		return s.resource, true
	case "snapshot":
		return snapshot{s.resource.in}, true
	}
	return nil, false
}

// Parent implements cel.Activation.
func (s scope) Parent() cel.Activation { return nil }

// judge evaluates the expression for one value, and reports what it says at a place.
func (m *maker) judge(p *lint.Pass, at lint.At, program cel.Program, this any) (more bool) {
	verdict, details, err := program.Eval(scope{this, resource{at.Resource(), p.Snapshot}})
	if err != nil {
		p.Fail(m.unable(at, err))
		return false
	}
	text := strings.TrimSpace(m.Text)
	switch verdict := verdict.(type) {
	case types.Bool:
		if verdict {
			text = ""
		}
	case types.String:
		text = string(verdict)
	default: // an expression whose type is only known when it is evaluated
		p.Fail(&lint.EvalError{
			Message: fmt.Sprintf("gives a value of type %s for %s", verdict.Type().TypeName(), named(at)),
			Help:    `true, or "", says that all is well; false, or a text, that it is not`,
		})
		return false
	}
	if text != "" {
		p.Report(at, lint.Diagnostic{Message: lint.Line(text), Help: m.Help})
	}
	return p.Spend(*details.ActualCost(), maxTotal, tooMuch)
}

// unable says why an expression has no value.
func (m *maker) unable(at lint.At, err error) *lint.EvalError {
	if strings.Contains(err.Error(), "cost limit exceeded") {
		return &lint.EvalError{
			Message: "costs more than a million steps for " + named(at),
			Help:    "let the expression look at less at once: a list within a list multiplies",
		}
	}
	help := "ask first whether there is something, with has(…), size(…) or in"
	if strings.Contains(err.Error(), "no such overload") {
		help = "something in it is null: a wrapper that is not set, or an Any's content that is of another type"
	}
	if strings.Contains(err.Error(), "google.protobuf.Any has no field") {
		help = "an Any in it is not set, or its content is of a type that is not known here: ask has(…) first"
	}
	return &lint.EvalError{Message: fmt.Sprintf("has no value for %s: %s", named(at), lint.Line(err.Error())), Help: help}
}

// named names a place in words.
func named(at lint.At) string {
	r := at.Resource()
	what := fmt.Sprintf("%s %q", r.Kind, r.Name)
	if r.Kind == graph.Bootstrap || r.Object.Secret() {
		what = string(r.Kind)
	}
	if path := at.Path().String(); path != "" {
		what += ", " + path
	}
	return what
}
