package custom

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	celtypes "cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// fieldMap is a map field in CEL. An expression that reads one entry by its name costs the same in a large map.
type fieldMap struct {
	protoreflect.Map
	adapter within
}

// whole copies the map; the values are converted when an expression reads them.
func (m fieldMap) whole() traits.Mapper {
	all := make(map[any]any, m.Len())
	m.Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
		all[k.Interface()] = v.Interface()
		return true
	})
	return celtypes.NewDynamicMap(m.adapter, all)
}

// Find implements traits.Mapper.
func (m fieldMap) Find(key ref.Val) (ref.Val, bool) {
	name, ok := key.(celtypes.String)
	if !ok {
		return m.whole().Find(key) // CEL compares numbers of different types
	}
	if m.Len() == 0 || !keyedByText(m.Map) {
		return nil, false
	}
	found := m.Map.Get(protoreflect.ValueOfString(string(name)).MapKey())
	if !found.IsValid() {
		return nil, false
	}
	return m.adapter.NativeToValue(found.Interface()), true
}

// keyedByText reports whether the keys of a map that is not empty are texts.
func keyedByText(m protoreflect.Map) (text bool) {
	m.Range(func(k protoreflect.MapKey, _ protoreflect.Value) bool {
		_, text = k.Interface().(string)
		return false
	})
	return text
}

// Get implements traits.Indexer.
func (m fieldMap) Get(key ref.Val) ref.Val {
	if found, ok := m.Find(key); ok {
		return found
	}
	return celtypes.NewErr("no such key: %v", key)
}

// Contains implements traits.Container.
func (m fieldMap) Contains(key ref.Val) ref.Val {
	_, ok := m.Find(key)
	return celtypes.Bool(ok)
}

// Size implements traits.Sizer.
func (m fieldMap) Size() ref.Val { return celtypes.Int(m.Len()) }

// IsZeroValue implements traits.Zeroer.
func (m fieldMap) IsZeroValue() bool { return m.Len() == 0 }

// Iterator implements traits.Iterable. It iterates in the order of the keys, since findings must not depend on Go's order.
func (m fieldMap) Iterator() traits.Iterator {
	keys := make([]ref.Val, 0, m.Len())
	m.Range(func(k protoreflect.MapKey, _ protoreflect.Value) bool {
		keys = append(keys, m.adapter.NativeToValue(k.Interface()))
		return true
	})
	slices.SortFunc(keys, func(a, b ref.Val) int { return cmp.Compare(fmt.Sprint(a.Value()), fmt.Sprint(b.Value())) })
	return celtypes.NewRefValList(m.adapter, keys).Iterator()
}

// ConvertToNative implements ref.Val.
func (m fieldMap) ConvertToNative(to reflect.Type) (any, error) { return m.whole().ConvertToNative(to) }

// ConvertToType implements ref.Val.
func (m fieldMap) ConvertToType(to ref.Type) ref.Val { return m.whole().ConvertToType(to) }

// Equal implements ref.Val.
func (m fieldMap) Equal(other ref.Val) ref.Val { return m.whole().Equal(other) }

// Type implements ref.Val.
func (m fieldMap) Type() ref.Type { return celtypes.MapType }

// Value implements ref.Val.
func (m fieldMap) Value() any { return m.whole().Value() }
