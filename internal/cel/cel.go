// Package cel models which CEL expressions Envoy rejects: their grammar, and the functions that Envoy offers. It does not link the CEL
// library, so that small programs can use the rules.
package cel

import (
	"errors"
	"fmt"
	"slices"

	"github.com/xdslint/xdslint/dataplane"
)

// Invalid returns the error that Envoy reports for an expression, or "" if it accepts the expression or may accept it
// (google::api::expr::parser::Parse, and Expr::createExpression of source/extensions/filters/common/expr/evaluator.cc).
func Invalid(expression string) (upstream string) {
	calls, err := parse(expression)
	switch {
	case errors.Is(err, errUnsure):
		return ""
	case err != nil:
		return "INVALID_ARGUMENT: ERROR: <input>: " + err.Error()
	}
	return unknownFunction(calls)
}

// Malformed is Invalid without the functions, which depend on the options of the place.
func Malformed(expression string) (upstream string) {
	if _, err := parse(expression); err != nil && !errors.Is(err, errUnsure) {
		return "INVALID_ARGUMENT: ERROR: <input>: " + err.Error()
	}
	return ""
}

// InvalidCall is Invalid for one call in an expression that is already parsed.
func InvalidCall(t dataplane.Target, function string, receiver bool, arguments int) (upstream string) {
	if takes, operator := operators[function]; operator {
		if receiver || !slices.Contains(takes, arguments) {
			return "failed to create an expression: No overload found in reference resolve step for " + function
		}
		return ""
	}
	if function == "_&&_" || function == "_||_" {
		if arguments < 2 || arguments > 2 && t.Before("1.40") {
			return "failed to create an expression: Invalid argument count for a binary function call."
		}
		return ""
	}
	return unknownFunction([]call{{name: function, receiver: receiver, arguments: arguments}})
}

func unknownFunction(calls []call) (upstream string) {
	for _, c := range calls {
		switch {
		case c.receiver && slices.Contains(macros[c.name], c.arguments):
			return "failed to create an expression: Comprehension support is disabled"
		case !c.known():
			return "failed to create an expression: No overload found in reference resolve step for " + c.name
		}
	}
	return ""
}

// call is a call of a function in an expression.
type call struct {
	name      string
	qualified string // with the names before it, if they are only names: "re.extract"
	receiver  bool   // a.f(b), not f(a, b)
	arguments int
}

func (c call) known() bool {
	if c.receiver {
		return slices.Contains(methods[c.name], c.arguments) || slices.Contains(functions[c.qualified], c.arguments)
	}
	return slices.Contains(functions[c.name], c.arguments)
}

// macros are the comprehensions, which Envoy disables, and how many arguments each has.
var macros = map[string][]int{"all": {2}, "exists": {2}, "exists_one": {2}, "map": {2, 3}, "filter": {2}}

// functions and methods are those that Envoy registers, and how many arguments each takes.
var (
	functions = map[string][]int{
		"size": {1}, "int": {1}, "uint": {1}, "double": {1}, "bytes": {1}, "bool": {1}, "timestamp": {1}, "duration": {1}, "type": {1}, "dyn": {1},
		"contains": {2}, "startsWith": {2}, "endsWith": {2}, "matches": {2},
		"re.extract": {3}, "re.capture": {2}, "re.captureN": {2},
	}
	methods = map[string][]int{
		"size": {0}, "contains": {1}, "startsWith": {1}, "endsWith": {1}, "matches": {1},
		"getDate": {0, 1}, "getDayOfMonth": {0, 1}, "getDayOfWeek": {0, 1}, "getDayOfYear": {0, 1}, "getFullYear": {0, 1},
		"getHours": {0, 1}, "getMilliseconds": {0, 1}, "getMinutes": {0, 1}, "getMonth": {0, 1}, "getSeconds": {0, 1},
	}
)

// operators are the names of operators in parsed expressions, and how many arguments each takes. && and || take two, or more since 1.40.
var operators = map[string][]int{
	"!_": {1}, "-_": {1}, "@not_strictly_false": {1}, "__not_strictly_false__": {1},
	"_+_": {2}, "_-_": {2}, "_*_": {2}, "_/_": {2}, "_%_": {2}, "_[_]": {2}, "@in": {2}, "_in_": {2}, "in": {2},
	"_==_": {2}, "_!=_": {2}, "_<_": {2}, "_<=_": {2}, "_>_": {2}, "_>=_": {2},
	"_?_:_": {3},
}

// errUnsure says that an expression uses what this package does not model.
var errUnsure = errors.New("not modelled")

// errorAt returns a syntax error at a token.
func errorAt(t token) error {
	if t.kind == end {
		return errors.New("mismatched input '<EOF>'")
	}
	return fmt.Errorf("mismatched input '%s'", t.text)
}
