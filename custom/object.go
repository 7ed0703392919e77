package custom

import (
	"fmt"
	"reflect"

	"cel.dev/cel-go/cel"
	celtypes "cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// object is a resource, a reference or a snapshot in CEL.
type object struct {
	types *typeSystem
	typ   string
	it    any // comparable
}

// ConvertToNative implements ref.Val.
func (o object) ConvertToNative(to reflect.Type) (any, error) {
	if reflect.TypeOf(o.it).AssignableTo(to) {
		return o.it, nil
	}
	return nil, fmt.Errorf("a %s is not a %s", o.typ, to)
}

// ConvertToType implements ref.Val.
func (o object) ConvertToType(to ref.Type) ref.Val {
	switch {
	case to == celtypes.TypeType:
		return cel.ObjectType(o.typ)
	case to.TypeName() == o.typ:
		return o
	}
	return celtypes.NewErr("a %s is not a %s", o.typ, to.TypeName())
}

// Equal implements ref.Val.
func (o object) Equal(other ref.Val) ref.Val { return celtypes.Bool(o.it == other.Value()) }

// Type implements ref.Val.
func (o object) Type() ref.Type { return cel.ObjectType(o.typ) }

// Value implements ref.Val.
func (o object) Value() any { return o.it }

// Get implements traits.Indexer.
func (o object) Get(field ref.Val) ref.Val {
	name, ok := field.(celtypes.String)
	if !ok {
		return celtypes.MaybeNoSuchOverloadErr(field)
	}
	found, err := attributeOf(o.it, o.typ, string(name))
	if err != nil {
		return celtypes.WrapErr(err)
	}
	return o.types.NativeToValue(found)
}

// IsSet implements traits.FieldTester.
func (o object) IsSet(field ref.Val) ref.Val {
	name, ok := field.(celtypes.String)
	if !ok {
		return celtypes.MaybeNoSuchOverloadErr(field)
	}
	_, err := attributeOf(o.it, o.typ, string(name))
	return celtypes.Bool(err == nil)
}
