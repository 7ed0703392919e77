package schema

import (
	"fmt"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/internal/cel"
	"github.com/xdslint/xdslint/lint"
)

// trees maps messages to their field that holds an expression that is already parsed. A CelExpression has several.
var trees = map[protoreflect.FullName]protoreflect.Name{
	"envoy.config.rbac.v3.Policy":                                "condition",
	"envoy.extensions.rate_limit_descriptors.expr.v3.Descriptor": "parsed",
	"xds.type.v3.CelExpression":                                  "cel_expr_checked",
}

// checkTree checks the parsed expression of a message (CompiledExpression::Create of source/extensions/filters/common/expr/evaluator.cc).
func checkTree(p *lint.Pass, at lint.At, m protoreflect.Message) {
	if m.Descriptor().Name() == "CelExpression" {
		checkSpecified(p, at, m)
	} else if m.Descriptor().Name() == "Descriptor" && !hasField(m, "text") && !hasField(m, "parsed") {
		p.Reject(at, lint.Rejection{
			Message:  "the descriptor does not have an expression",
			Help:     "write text: …",
			Upstream: "Rate limit descriptor extension failed: expression specifier is not set",
		})
	} else if field := trees[m.Descriptor().FullName()]; field != "" && hasField(m, field) && !envoy.RulesIgnored(at.Place) {
		expressionTree{p}.check(at.Field(string(field)), messageOf(m, field))
	}
}

// checkSpecified checks the expression of a CelExpression that Envoy takes: the first that is set.
func checkSpecified(p *lint.Pass, at lint.At, m protoreflect.Message) {
	for _, field := range []string{"cel_expr_checked", "cel_expr_parsed", "parsed_expr", "checked_expr"} {
		if fd := m.Descriptor().Fields().ByName(protoreflect.Name(field)); fd != nil && m.Has(fd) {
			expressionTree{p}.check(at.Field(field, "expr"), messageOf(m.Get(fd).Message(), "expr"))
			return
		}
	}
	p.Reject(at, lint.Rejection{
		Message:  "Envoy cannot use the expression",
		Help:     "write cel_expr_parsed or cel_expr_checked: Envoy does not parse cel_expr_string",
		Upstream: "failed to create an expression: CEL expression not set.",
	})
}

// expressionTree checks parsed expressions: messages Expr of google.api.expr.v1alpha1 or cel.expr, which have the same fields.
type expressionTree struct{ p *lint.Pass }

func (t expressionTree) check(at lint.At, expr protoreflect.Message) {
	kind := expr.WhichOneof(expr.Descriptor().Oneofs().ByName("expr_kind"))
	if kind == nil {
		t.reject(at, "an expression is empty", "Invalid empty expression")
		return
	}
	m, in := expr.Get(kind).Message(), at.Field(string(kind.Name()))
	switch kind.Name() {
	case "const_expr":
		if m.WhichOneof(m.Descriptor().Oneofs().ByName("constant_kind")) == nil {
			t.reject(in, "a constant does not have a value", "unspecified constant")
		}
	case "ident_expr":
		if stringOf(m, "name") == "" {
			t.reject(in, "an identifier does not have a name", "Invalid expression: identifier 'name' must not be empty")
		}
	case "select_expr":
		t.selection(in, m)
	case "call_expr":
		t.call(in, m)
	case "list_expr":
		t.each(in, m, "elements")
	case "struct_expr":
		t.entries(in, m)
	case "comprehension_expr":
		t.reject(in, "Envoy does not compile comprehensions", "Comprehension support is disabled")
	}
}

func (t expressionTree) selection(at lint.At, m protoreflect.Message) {
	switch {
	case stringOf(m, "field") == "":
		t.reject(at, "a selection does not name a field", "invalid expression: select 'field' must not be empty")
	case !hasField(m, "operand"):
		t.reject(at, "a selection does not say of what", "invalid expression: select must specify an operand")
	default:
		t.check(at.Field("operand"), messageOf(m, "operand"))
	}
}

func (t expressionTree) call(at lint.At, m protoreflect.Message) {
	function, arguments := stringOf(m, "function"), m.Get(m.Descriptor().Fields().ByName("args")).List().Len()
	if upstream := cel.InvalidCall(t.p.Target, function, hasField(m, "target"), arguments); upstream != "" {
		t.p.Reject(at.Field("function"), lint.Rejection{
			Message:  fmt.Sprintf("Envoy does not have a function %q with these arguments", function),
			Help:     attributesHelp,
			Upstream: upstream,
		})
	}
	if hasField(m, "target") {
		t.check(at.Field("target"), messageOf(m, "target"))
	}
	t.each(at, m, "args")
}

// entries checks a map. Which messages an expression can create depends on the build.
func (t expressionTree) entries(at lint.At, m protoreflect.Message) {
	if stringOf(m, "message_name") != "" {
		return
	}
	entries := m.Get(m.Descriptor().Fields().ByName("entries")).List()
	for i := range entries.Len() {
		switch entry, in := entries.Get(i).Message(), at.Item("entries", i); {
		case !hasField(entry, "map_key"):
			t.reject(in, "an entry of a map does not have a map_key", "encountered struct field in map")
		case !hasField(entry, "value"):
			t.reject(in, "an entry of a map does not have a value", "Map entry missing value")
		default:
			t.check(in.Field("map_key"), messageOf(entry, "map_key"))
			t.check(in.Field("value"), messageOf(entry, "value"))
		}
	}
}

func (t expressionTree) each(at lint.At, m protoreflect.Message, field string) {
	list := m.Get(m.Descriptor().Fields().ByName(protoreflect.Name(field))).List()
	for i := range list.Len() {
		t.check(at.Item(field, i), list.Get(i).Message())
	}
}

func (t expressionTree) reject(at lint.At, what, upstream string) {
	t.p.Reject(at, lint.Rejection{Message: what, Help: "write what a CEL parser produces", Upstream: "failed to create an expression: " + upstream})
}

func hasField(m protoreflect.Message, field protoreflect.Name) bool {
	return m.Has(m.Descriptor().Fields().ByName(field))
}

func stringOf(m protoreflect.Message, field protoreflect.Name) string {
	return m.Get(m.Descriptor().Fields().ByName(field)).String()
}

func messageOf(m protoreflect.Message, field protoreflect.Name) protoreflect.Message {
	return m.Get(m.Descriptor().Fields().ByName(field)).Message()
}
