package layered

import (
	"maps"
	"slices"
)

// Set is a set that is copied at the cost of what was changed since it was made, not of what it holds. The zero Set is empty.
type Set[T comparable] struct {
	base []T        // shared by copies, and never changed
	over map[T]bool // true: an element that is not in base; false: one of base that was removed
}

// SetOf returns a set of elements, none of them twice. The caller must not change base afterwards.
func SetOf[T comparable](base []T) Set[T] { return Set[T]{base: base} }

// With returns a set without some of its elements, and with others that are then not in it.
func (s Set[T]) With(removed, added []T) Set[T] {
	over := make(map[T]bool, len(s.over)+len(removed)+len(added))
	maps.Copy(over, s.over)
	for _, e := range removed {
		if over[e] {
			delete(over, e)
		} else {
			over[e] = false
		}
	}
	for _, e := range added {
		if _, based := over[e]; based {
			delete(over, e)
		} else {
			over[e] = true
		}
	}
	made := Set[T]{s.base, over}
	if len(over) > 16+len(s.base)/8 {
		return SetOf(slices.Collect(made.All))
	}
	return made
}

// Empty reports whether the set has no element.
func (s Set[T]) Empty() bool {
	for range s.All {
		return false
	}
	return true
}

// All yields the elements, in no order.
func (s Set[T]) All(yield func(T) bool) {
	for _, e := range s.base {
		if _, changed := s.over[e]; !changed && !yield(e) {
			return
		}
	}
	for e, in := range s.over {
		if in && !yield(e) {
			return
		}
	}
}
