package constraint

import (
	"fmt"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// size is a bound on a count: of items, pairs, characters or bytes.
type size struct {
	min, max uint64
	capped   bool // max holds
}

// sizeOf reads a pair such as min_items and max_items. ok is false if neither sets a bound.
func sizeOf(minimum, maximum *uint64) (s size, ok bool) {
	if minimum != nil {
		s.min = *minimum
	}
	if maximum != nil {
		s.max, s.capped = *maximum, true
	}
	return s, s.min > 0 || s.capped
}

func (s size) broken(n int) bool {
	return uint64(n) < s.min || s.capped && uint64(n) > s.max
}

// want describes the bound.
func (s size) want(one, many string) string {
	switch {
	case s.capped && s.max == 0:
		return "must have no " + many
	case s.capped && s.min == s.max:
		return "must have exactly " + count(s.min, one, many)
	case s.capped && s.min > 0:
		return fmt.Sprintf("must have %d to %s", s.min, count(s.max, one, many))
	case s.capped:
		return "must have at most " + count(s.max, one, many)
	default:
		return "must have at least " + count(s.min, one, many)
	}
}

func count(n uint64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// sizeRule bounds the size of a repeated field or of a map. A nil sizeRule has no bounds.
type sizeRule struct {
	size
	one, many string
	quiet     bool // the field is sensitive
	upstream  string
}

// newSizeRule compiles min_items and max_items, or min_pairs and max_pairs.
func newSizeRule(minimum, maximum *uint64, one, many string, quiet bool) *sizeRule {
	s, ok := sizeOf(minimum, maximum)
	if !ok {
		return nil
	}
	r := &sizeRule{size: s, one: one, many: many, quiet: quiet}
	switch {
	case s.min > 0 && s.min == s.max:
		r.upstream = fmt.Sprintf("value must contain exactly %d %s(s)", s.min, one)
	case s.min > 0 && s.capped:
		r.upstream = fmt.Sprintf("value must contain between %d and %d %s, inclusive", s.min, s.max, many)
	case s.min > 0:
		r.upstream = fmt.Sprintf("value must contain at least %d %s(s)", s.min, one)
	default:
		r.upstream = fmt.Sprintf("value must contain no more than %d %s(s)", s.max, one)
	}
	return r
}

func (r *sizeRule) check(fd protoreflect.FieldDescriptor, n int, report func(Violation)) {
	if r == nil || !r.broken(n) {
		return
	}
	message := r.want(r.one, r.many)
	if n > 0 && !r.quiet {
		message = "has " + count(uint64(n), r.one, r.many) + ", " + message
	}
	report(Violation{Field: fd, Index: -1, Message: message, Upstream: r.upstream})
}
