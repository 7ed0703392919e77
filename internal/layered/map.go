// Package layered has a map and a set whose copies share what they have in common.
package layered

import "maps"

// Map is a map that is copied at the cost of what was changed since it was made, not of what it holds. The zero Map is empty.
type Map[K comparable, V any] struct {
	base map[K]V        // shared by copies, and never changed
	over map[K]entry[V] // what differs from base
}

type entry[V any] struct {
	value V
	gone  bool
}

// Of returns a map that holds what base holds. The caller must not change base afterwards.
func Of[K comparable, V any](base map[K]V) Map[K, V] { return Map[K, V]{base: base} }

// Get returns the value of a key, and the zero value if there is none.
func (m *Map[K, V]) Get(k K) V {
	if m.over != nil {
		if e, ok := m.over[k]; ok {
			return e.value
		}
	}
	return m.base[k]
}

// Copy returns a map that can be changed. The original must not be changed afterwards.
func (m *Map[K, V]) Copy() Map[K, V] {
	if len(m.over) <= 16+len(m.base)/8 {
		over := maps.Clone(m.over)
		if over == nil {
			over = map[K]entry[V]{}
		}
		return Map[K, V]{m.base, over}
	}
	base := make(map[K]V, len(m.base))
	for k, v := range m.All {
		base[k] = v
	}
	return Map[K, V]{base, map[K]entry[V]{}}
}

// Set sets the value of a key in a copy.
func (m *Map[K, V]) Set(k K, v V) { m.over[k] = entry[V]{value: v} }

// Delete removes a key from a copy. A key that the base does not have is not kept in memory.
func (m *Map[K, V]) Delete(k K) {
	if _, known := m.base[k]; known {
		m.over[k] = entry[V]{gone: true}
	} else {
		delete(m.over, k)
	}
}

// All yields the keys and their values, in no order.
func (m *Map[K, V]) All(yield func(K, V) bool) {
	for k, v := range m.base {
		if _, changed := m.over[k]; !changed && !yield(k, v) {
			return
		}
	}
	for k, e := range m.over {
		if !e.gone && !yield(k, e.value) {
			return
		}
	}
}
