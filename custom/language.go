package custom

import (
	"fmt"

	pv "buf.build/go/protovalidate/cel"
	"cel.dev/cel-go/cel"
	celtypes "cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/ext"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/config"
)

// language is CEL with protovalidate's functions, the types of xDS, and functions over the graph.
type language struct {
	types *typeSystem
	env   *cel.Env
}

func newLanguage(known graph.Types) *language {
	base, err := cel.NewEnv(cel.Lib(pv.NewLibrary()))
	if err != nil {
		panic(err) // it depends on nothing
	}
	l := &language{types: &typeSystem{Provider: base.CELTypeProvider(), Adapter: base.CELTypeAdapter(), known: known}}
	l.env, err = base.Extend(
		cel.CustomTypeProvider(l.types), cel.CustomTypeAdapter(l.types),
		cel.Variable("resource", resourceType("")), cel.Variable("snapshot", snapshotType),
		cel.ASTValidators(cel.ValidateRegexLiterals(), cel.ValidateDurationLiterals(), cel.ValidateTimestampLiterals()),
		ext.Bindings(),
		l.reach("reaches", resource.reaches), l.reach("reached_by", resource.reachedBy), l.find(),
	)
	if err != nil {
		panic(err)
	}
	return l
}

// reach declares a function from a resource and a kind to resources.
func (l *language) reach(name string, f func(resource, graph.Kind) (resources, int)) cel.EnvOption {
	call := func(receiver, kind ref.Val) ref.Val {
		r, ok := receiver.Value().(resource)
		if !ok {
			return celtypes.NewErr("only a resource leads to others; this is a %s", receiver.Type().TypeName())
		}
		k, err := config.ParseKind(fmt.Sprint(kind.Value()))
		if err != nil {
			return celtypes.WrapErr(err)
		}
		found, looked := f(r, k)
		return reached{l.types.NativeToValue(found).(traits.Lister), looked}
	}
	// Each kind of resource has its own type, so the receiver's is only checked in the call.
	overload := cel.MemberOverload("resource_"+name, []*cel.Type{cel.DynType, cel.StringType}, cel.ListType(resourceType("")), cel.BinaryBinding(call))
	return cel.Function(name, overload)
}

// find declares the function from a snapshot, a kind and a name to the resource of that name.
func (l *language) find() cel.EnvOption {
	call := func(args ...ref.Val) ref.Val {
		in, ok := args[0].Value().(snapshot)
		if !ok {
			return celtypes.MaybeNoSuchOverloadErr(args[0])
		}
		kind, err := config.ParseKind(fmt.Sprint(args[1].Value()))
		if err != nil {
			return celtypes.WrapErr(err)
		}
		return l.types.NativeToValue(in.find(kind, fmt.Sprint(args[2].Value())))
	}
	of := []*cel.Type{snapshotType, cel.StringType, cel.StringType}
	return cel.Function("find", cel.MemberOverload("snapshot_find", of, cel.ListType(resourceType("")), cel.FunctionBinding(call)))
}

// compile makes a program of the expression, in which `this` has a type. It returns nil if the expression is wrong. The types of a package can be written
// with their short names.
func (m *maker) compile(this *cel.Type, pkg string) cel.Program {
	watched := &watch{typeSystem: m.language.types}
	env, err := m.language.env.Extend(cel.CustomTypeProvider(watched), cel.Variable("this", this), cel.Container(pkg))
	if err != nil {
		panic(err)
	}
	checked, issues := env.Compile(m.Expression)
	if issues.Err() != nil {
		m.wrong(env, issues, watched)
		return nil
	}
	if !m.allowed(checked) {
		return nil
	}
	program, err := env.Program(checked, cel.EvalOptions(cel.OptOptimize), cel.CostLimit(m.budget.one), cel.CostTracking(costsOf(checked)))
	if err != nil {
		m.faultf("expression", "%s", err)
		return nil
	}
	return program
}
