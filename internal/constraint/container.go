package constraint

import (
	"cmp"
	"fmt"
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/internal/fields"
)

// list checks a repeated field (validate.RepeatedRules).
type list struct {
	fd          fields.Field
	size        *sizeRule
	ignoreEmpty bool
	unique      bool
	items       []rule
}

func (l *list) check(m fields.Message, report func(Violation)) {
	n := m.Len(&l.fd)
	if n > 0 || !l.ignoreEmpty {
		l.size.check(l.fd.FieldDescriptor, n, report)
	}
	if n == 0 || !l.unique && len(l.items) == 0 {
		return // Get allocates a list
	}
	values := m.Get(l.fd.FieldDescriptor).List()
	if l.unique {
		l.checkUnique(values, report)
	}
	if len(l.items) > 0 {
		l.checkItems(values, report)
	}
}

func (l *list) checkItems(values protoreflect.List, report func(Violation)) {
	for i := range values.Len() {
		v := values.Get(i)
		for r := range l.items {
			if l.items[r].broken(v) {
				violation := l.items[r].violation(l.fd.FieldDescriptor, v)
				violation.Index = i
				report(violation)
			}
		}
	}
}

func (l *list) checkUnique(values protoreflect.List, report func(Violation)) {
	if values.Len() < 2 {
		return
	}
	first := make(map[any]int, values.Len())
	for i := range values.Len() {
		value := values.Get(i).Interface()
		if b, ok := value.([]byte); ok {
			value = string(b)
		}
		if j, ok := first[value]; ok {
			report(Violation{
				Field: l.fd.FieldDescriptor, Index: i,
				Message:  fmt.Sprintf("must not repeat item %d", j),
				Upstream: "repeated value must contain unique items",
			})
			continue
		}
		first[value] = i
	}
}

// mapping checks a map field (validate.MapRules).
type mapping struct {
	fd          protoreflect.FieldDescriptor
	size        *sizeRule
	ignoreEmpty bool
	noSparse    bool // only a Go map can hold a nil message; PGV's C++ has no such check
	keys        []rule
	values      []rule
}

func (p *mapping) check(m fields.Message, report func(Violation)) {
	if !m.Has(p.fd) {
		if !p.ignoreEmpty {
			p.size.check(p.fd, 0, report)
		}
		return
	}
	entries := m.Get(p.fd).Map()
	p.size.check(p.fd, entries.Len(), report)
	if p.sound(entries) {
		return
	}
	for _, k := range sortedKeys(entries) {
		p.checkEntry(k, entries.Get(k), report)
	}
}

// sound reports whether no entry violates a rule. That is the common case, which does not need sorted keys.
func (p *mapping) sound(entries protoreflect.Map) bool {
	if len(p.keys) == 0 && len(p.values) == 0 && !p.noSparse {
		return true
	}
	sound := true
	entries.Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
		p.checkEntry(k, v, func(Violation) { sound = false })
		return sound
	})
	return sound
}

func (p *mapping) checkEntry(k protoreflect.MapKey, v protoreflect.Value, report func(Violation)) {
	if p.noSparse && !v.Message().IsValid() {
		report(Violation{
			Field: p.fd, Index: -1, Key: k,
			Message:  "must have a value",
			Upstream: "value cannot be sparse, all pairs must be non-nil",
		})
	}
	for i := range p.keys {
		if key := k.Value(); p.keys[i].broken(key) {
			violation := p.keys[i].violation(p.fd, key)
			violation.Key, violation.OnKey = k, true
			report(violation)
		}
	}
	for i := range p.values {
		if p.values[i].broken(v) {
			violation := p.values[i].violation(p.fd, v)
			violation.Key = k
			report(violation)
		}
	}
}

func sortedKeys(entries protoreflect.Map) []protoreflect.MapKey {
	keys := make([]protoreflect.MapKey, 0, entries.Len())
	entries.Range(func(k protoreflect.MapKey, _ protoreflect.Value) bool {
		keys = append(keys, k)
		return true
	})
	slices.SortFunc(keys, compareKeys)
	return keys
}

func compareKeys(a, b protoreflect.MapKey) int {
	switch a.Interface().(type) {
	case int32, int64:
		return cmp.Compare(a.Int(), b.Int())
	case uint32, uint64:
		return cmp.Compare(a.Uint(), b.Uint())
	default: // a string, or a bool: "false" sorts before "true"
		return cmp.Compare(a.String(), b.String())
	}
}
