package custom

import (
	"fmt"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/words"
	"github.com/xdslint/xdslint/lint"
)

// scope has the variables of an expression.
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

// expression is the compiled expression of a constraint.
type expression struct {
	program cel.Program
	text    string // what to say where it is false
	budget  budget
}

func (x *expression) evaluate(in graph.View, s subject) outcome {
	verdict, details, err := x.program.Eval(scope{s.this, resource{s.at.Resource(), in}})
	if err != nil {
		return outcome{err: x.noValue(s.at, err)}
	}
	o := outcome{cost: evaluating + *details.ActualCost()}
	switch verdict := verdict.(type) {
	case types.Bool:
		if !verdict {
			o.message = x.text
		}
	case types.String:
		o.message = string(verdict)
	default: // the type of the expression is only known when it is evaluated
		o.err = &lint.EvalError{
			Message: fmt.Sprintf("returns a value of type %s for %s", verdict.Type().TypeName(), named(s.at)),
			Help:    `it must return true or "" where all is well, and otherwise false or a text`,
		}
	}
	return o
}

// noValue says why an expression has no value.
func (x *expression) noValue(at lint.At, err error) *lint.EvalError {
	if strings.Contains(err.Error(), "cost limit exceeded") {
		return &lint.EvalError{
			Message: "costs more than " + steps(x.budget.one) + " for " + named(at),
			Help:    "let the expression read less at once: a loop within a loop multiplies the cost",
		}
	}
	help := "first ask whether the value exists, with has(…), size(…) or in"
	if strings.Contains(err.Error(), "no such overload") {
		help = "something in it is null: a wrapper that is not set, or the content of an Any of another type"
	}
	if strings.Contains(err.Error(), "google.protobuf.Any has no field") {
		help = "an Any in it is not set, or its content is of an unknown type: ask has(…) first"
	}
	return &lint.EvalError{Message: fmt.Sprintf("has no value for %s: %s", named(at), words.Line(err.Error())), Help: help}
}

// named describes a place in words.
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
