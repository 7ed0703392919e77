package custom

import (
	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/overloads"
	celtypes "cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"google.golang.org/protobuf/proto"
)

// costs has the functions that read or do more than CEL counts.
type costs struct {
	compiled map[string]bool // regular expressions that are compiled once, with the expression
}

func costsOf(checked *cel.Ast) costs {
	c := costs{map[string]bool{}}
	ast.PreOrderVisit(checked.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != overloads.Matches {
			return
		}
		args := e.AsCall().Args()
		if last := args[len(args)-1]; last.Kind() == ast.LiteralKind {
			c.compiled[textOf(last.AsLiteral())] = true
		}
	}))
	return c
}

func textOf(v ref.Val) string {
	text, _ := v.Value().(string)
	return text
}

// CallCost implements cel's ActualCostEstimator.
func (c costs) CallCost(_, overload string, args []ref.Val, result ref.Val) *uint64 {
	switch overload {
	case overloads.Equals, overloads.NotEquals:
		return compared(1, min(weight(args[0]), weight(args[1])))
	case overloads.InList:
		if list, ok := args[1].(traits.Sizer); ok {
			n, _ := list.Size().Value().(int64)
			return compared(uint64(n), weight(args[0]))
		}
	case overloads.Matches, overloads.MatchesString:
		return c.matched(textOf(args[0]), textOf(args[1]))
	}
	if found, ok := result.(reached); ok {
		const each = 5 // a step in the graph takes longer than one in an expression
		cost := 1 + each*uint64(found.looked)
		return &cost
	}
	return nil
}

// matched returns the cost of matching, or nil if CEL knows it. Compiling ".{999}" takes longer than matching most texts.
func (c costs) matched(text, pattern string) *uint64 {
	if c.compiled[pattern] {
		return nil
	}
	const each = 100
	cost := (1 + uint64(len(text))/10) * (1 + each*uint64(len(pattern)))
	return &cost
}

// compared returns the cost of comparing a value of a weight n times, or nil for values of which CEL knows it.
func compared(n, weight uint64) *uint64 {
	if weight == 0 {
		return nil
	}
	cost := n * (1 + weight)
	return &cost
}

// weight returns what comparing a message, a list or a map costs. It is 0 for other values.
func weight(v ref.Val) (all uint64) {
	const each = 10 // bytes of a message: comparing two fields takes longer than comparing two numbers
	switch v := v.(type) {
	case message:
		return 1 + uint64(proto.Size(v.m))/each
	case fieldMap:
		for it := v.Iterator(); it.HasNext() == celtypes.True; {
			value, _ := v.Find(it.Next())
			all += 1 + weight(value)
		}
	case traits.Lister:
		for it := v.Iterator(); it.HasNext() == celtypes.True; {
			all += 1 + weight(it.Next())
		}
	}
	return all
}

// reached has the resources at the end of references, and the number of references that were followed.
type reached struct {
	traits.Lister
	looked int
}
