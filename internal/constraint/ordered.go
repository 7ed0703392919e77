package constraint

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// ordered compiles the rules that numbers, durations and timestamps share: const, lt, lte, gt, gte, in and not_in.
type ordered[T comparable] struct {
	get  func(protoreflect.Value) T // of the field's value and of the bound in the rule alike
	less func(a, b T) bool          // false both ways for NaN, which thus breaks what it breaks in C++
	show func(T) string             // as people write it
	cite func(T) string             // as PGV prints it
}

// rules compiles bounds, a validate.XRules message. Its fields have the same names for every X.
func (o ordered[T]) rules(bounds protoreflect.Message) []rule {
	var rules []rule
	add := func(broken func(T) bool, message, upstream string) {
		get := o.get
		rules = append(rules, rule{
			broken:  func(v protoreflect.Value) bool { return broken(get(v)) },
			message: message, shown: o.shown, upstream: upstream,
		})
	}
	if want, ok := o.bound(bounds, "const"); ok {
		add(func(v T) bool { return v != want }, "must be "+o.show(want), "value must equal "+o.cite(want))
	}
	lower, upper := o.lower(bounds), o.upper(bounds)
	if broken, message, upstream := o.between(lower, upper); broken != nil {
		add(broken, message, upstream)
	}
	if in := o.values(bounds, "in"); len(in) > 0 {
		add(func(v T) bool { return !slices.Contains(in, v) }, "must be one of "+join(in, o.show, ", "),
			"value must be in list ["+join(in, o.cite, " ")+"]")
	} else if not := o.values(bounds, "not_in"); len(not) > 0 {
		add(func(v T) bool { return slices.Contains(not, v) }, "must not be one of "+join(not, o.show, ", "),
			"value must not be in list ["+join(not, o.cite, " ")+"]")
	}
	return rules
}

// shown returns "" for the zero value, which usually means that the field is not in the text.
func (o ordered[T]) shown(v protoreflect.Value) string {
	var zero T
	x := o.get(v)
	if x == zero {
		return ""
	}
	return "is " + o.show(x)
}

func (o ordered[T]) bound(bounds protoreflect.Message, name protoreflect.Name) (value T, ok bool) {
	fd := bounds.Descriptor().Fields().ByName(name)
	if fd == nil || !bounds.Has(fd) {
		return value, false
	}
	return o.get(bounds.Get(fd)), true
}

func (o ordered[T]) values(bounds protoreflect.Message, name protoreflect.Name) []T {
	fd := bounds.Descriptor().Fields().ByName(name)
	if fd == nil || !bounds.Has(fd) {
		return nil
	}
	listed := bounds.Get(fd).List()
	values := make([]T, listed.Len())
	for i := range values {
		values[i] = o.get(listed.Get(i))
	}
	return values
}

// limit is one end of a range.
type limit[T any] struct {
	value     T
	exclusive bool
	broken    func(T) bool // nil: no limit
	message   string
	upstream  string
}

func (o ordered[T]) lower(bounds protoreflect.Message) limit[T] {
	if gt, ok := o.bound(bounds, "gt"); ok {
		return limit[T]{
			gt, true, func(v T) bool { return v == gt || o.less(v, gt) },
			"greater than " + o.show(gt), "greater than " + o.cite(gt),
		}
	}
	if gte, ok := o.bound(bounds, "gte"); ok {
		return limit[T]{
			gte, false, func(v T) bool { return o.less(v, gte) },
			"at least " + o.show(gte), "greater than or equal to " + o.cite(gte),
		}
	}
	return limit[T]{}
}

func (o ordered[T]) upper(bounds protoreflect.Message) limit[T] {
	if lt, ok := o.bound(bounds, "lt"); ok {
		return limit[T]{
			lt, true, func(v T) bool { return v == lt || o.less(lt, v) },
			"less than " + o.show(lt), "less than " + o.cite(lt),
		}
	}
	if lte, ok := o.bound(bounds, "lte"); ok {
		return limit[T]{
			lte, false, func(v T) bool { return o.less(lte, v) },
			"at most " + o.show(lte), "less than or equal to " + o.cite(lte),
		}
	}
	return limit[T]{}
}

// between joins the two ends. If the upper end is not above the lower one, the values between them are excluded (PGV's
// "outside range").
func (o ordered[T]) between(lower, upper limit[T]) (broken func(T) bool, message, upstream string) {
	below, above := lower.broken, upper.broken
	switch {
	case below == nil && above == nil:
		return nil, "", ""
	case above == nil:
		return below, "must be " + lower.message, "value must be " + lower.upstream
	case below == nil:
		return above, "must be " + upper.message, "value must be " + upper.upstream
	case o.less(lower.value, upper.value):
		return func(v T) bool { return below(v) || above(v) },
			"must be " + lower.message + " and " + upper.message,
			"value must be inside range " + pick(lower.exclusive, "(", "[") + o.cite(lower.value) + ", " +
				o.cite(upper.value) + pick(upper.exclusive, ")", "]")
	default:
		return func(v T) bool { return below(v) && above(v) },
			"must be " + upper.message + " or " + lower.message,
			"value must be outside range " + pick(upper.exclusive, "[", "(") + o.cite(upper.value) + ", " +
				o.cite(lower.value) + pick(lower.exclusive, "]", ")")
	}
}

func pick(ok bool, yes, no string) string {
	if ok {
		return yes
	}
	return no
}

func join[T any](values []T, show func(T) string, separator string) string {
	shown := make([]string, len(values))
	for i, v := range values {
		shown[i] = show(v)
	}
	return strings.Join(shown, separator)
}
