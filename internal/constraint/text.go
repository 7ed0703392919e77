package constraint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/envoyproxy/protoc-gen-validate/validate"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// textRules collects the rules of a string or of bytes, in the order in which PGV's C++ checks them. Their messages
// never show the value, since the message around it may be a secret.
type textRules struct {
	text  func(protoreflect.Value) string
	rules []rule
}

func (t *textRules) add(broken func(string) bool, message, upstream string) {
	text := t.text
	t.rules = append(t.rules, rule{
		broken:  func(v protoreflect.Value) bool { return broken(text(v)) },
		message: message, upstream: upstream,
	})
}

// stringRules compiles validate.StringRules.
func stringRules(r *validate.StringRules) []rule {
	t := textRules{text: protoreflect.Value.String}
	t.equal(r.Const)
	t.lists(r.In, r.NotIn)
	t.characters(orExactly(r.MinLen, r.MaxLen, r.Len))
	t.bytes(orExactly(r.MinBytes, r.MaxBytes, r.LenBytes))
	t.affixes(r.Prefix, r.Suffix, r.Contains)
	if not := r.GetNotContains(); r.NotContains != nil {
		t.add(func(s string) bool { return strings.Contains(s, not) },
			fmt.Sprintf("must not contain %q", not), fmt.Sprintf("value contains substring %q", not))
	}
	t.pattern(r.Pattern)
	t.header(r)
	t.format(r)
	return t.orEmpty(r.GetIgnoreEmpty())
}

// bytesRules compiles validate.BytesRules.
func bytesRules(r *validate.BytesRules) []rule {
	t := textRules{text: func(v protoreflect.Value) string { return string(v.Bytes()) }}
	t.equal(text(r.Const))
	t.lists(texts(r.In), texts(r.NotIn))
	t.bytes(orExactly(r.MinLen, r.MaxLen, r.Len))
	t.affixes(text(r.Prefix), text(r.Suffix), text(r.Contains))
	t.pattern(r.Pattern)
	t.rawIP(r)
	return t.orEmpty(r.GetIgnoreEmpty())
}

func text(b []byte) *string {
	if b == nil {
		return nil
	}
	s := string(b)
	return &s
}

func texts(list [][]byte) []string {
	var s []string
	for _, b := range list {
		s = append(s, string(b))
	}
	return s
}

// orEmpty returns the rules. With ignoreEmpty, they accept an empty value.
func (t *textRules) orEmpty(ignoreEmpty bool) []rule {
	if !ignoreEmpty {
		return t.rules
	}
	text := t.text
	return unless(func(v protoreflect.Value) bool { return text(v) == "" }, t.rules)
}

func (t *textRules) equal(want *string) {
	if want != nil {
		t.add(func(s string) bool { return s != *want },
			fmt.Sprintf("must be %q", *want), fmt.Sprintf("value must equal %q", *want))
	}
}

func (t *textRules) lists(in, not []string) {
	quote := func(s string) string { return fmt.Sprintf("%q", s) }
	if len(in) > 0 {
		t.add(func(s string) bool { return !slices.Contains(in, s) },
			"must be one of "+join(in, quote, ", "), fmt.Sprint("value must be in list ", in))
	} else if len(not) > 0 {
		t.add(func(s string) bool { return slices.Contains(not, s) },
			"must not be one of "+join(not, quote, ", "), fmt.Sprint("value must not be in list ", not))
	}
}

// orExactly returns the bounds of a size: len, or min_len and max_len.
func orExactly(minimum, maximum, exactly *uint64) (lower, upper *uint64) {
	if exactly != nil {
		return exactly, exactly
	}
	return minimum, maximum
}

// characters adds a size in code points.
func (t *textRules) characters(minimum, maximum *uint64) {
	s, ok := sizeOf(minimum, maximum)
	if !ok {
		return
	}
	var upstream string
	switch {
	case !s.capped:
		upstream = fmt.Sprintf("value length must be at least %d characters", s.min)
	case minimum == nil:
		upstream = fmt.Sprintf("value length must be at most %d characters", s.max)
	case s.min == s.max:
		upstream = fmt.Sprintf("value must be %d characters", s.min)
	default:
		upstream = fmt.Sprintf("value must have between %d and %d characters inclusive", s.min, s.max)
	}
	if s == (size{min: 1}) {
		t.add(func(s string) bool { return s == "" }, "must not be empty", upstream)
		return
	}
	t.length(s, utf8.RuneCountInString, "character", "characters", upstream)
}

// bytes adds a size in bytes.
func (t *textRules) bytes(minimum, maximum *uint64) {
	s, ok := sizeOf(minimum, maximum)
	if !ok {
		return
	}
	var upstream string
	switch {
	case !s.capped:
		upstream = fmt.Sprintf("value length must be at least %d bytes", s.min)
	case minimum == nil:
		upstream = fmt.Sprintf("value length must be at most %d bytes", s.max)
	case s.min == s.max:
		upstream = fmt.Sprintf("value length must be %d bytes", s.min)
	default:
		upstream = fmt.Sprintf("value length must be between %d and %d bytes, inclusive", s.min, s.max)
	}
	t.length(s, func(s string) int { return len(s) }, "byte", "bytes", upstream)
}

func (t *textRules) length(s size, measure func(string) int, one, many, upstream string) {
	text := t.text
	t.rules = append(t.rules, rule{
		broken:  func(v protoreflect.Value) bool { return s.broken(measure(text(v))) },
		message: s.want(one, many),
		shown: func(v protoreflect.Value) string {
			n := measure(text(v))
			if n == 0 {
				return "is empty"
			}
			return "has " + count(uint64(n), one, many)
		},
		upstream: upstream,
	})
}

func (t *textRules) affixes(prefix, suffix, within *string) {
	if prefix != nil {
		t.add(func(s string) bool { return !strings.HasPrefix(s, *prefix) },
			fmt.Sprintf("must begin with %q", *prefix), fmt.Sprintf("value does not have prefix %q", *prefix))
	}
	if suffix != nil {
		t.add(func(s string) bool { return !strings.HasSuffix(s, *suffix) },
			fmt.Sprintf("must end with %q", *suffix), fmt.Sprintf("value does not have suffix %q", *suffix))
	}
	if within != nil {
		t.add(func(s string) bool { return !strings.Contains(s, *within) },
			fmt.Sprintf("must contain %q", *within), fmt.Sprintf("value does not contain substring %q", *within))
	}
}

// pattern adds an RE2 expression, which must match the whole value (RE2::FullMatch). An expression that does not
// compile has no effect, since PGV rejects it.
func (t *textRules) pattern(p *string) {
	if p == nil {
		return
	}
	compiled := sync.OnceValue(func() *regexp.Regexp {
		re, err := regexp.Compile(`\A(?:` + *p + `)\z`)
		if err != nil {
			return nil
		}
		return re
	})
	t.add(func(s string) bool { re := compiled(); return re != nil && !re.MatchString(s) },
		fmt.Sprintf("must match the regular expression %q", *p), mismatch(*p))
}

func mismatch(p string) string { return fmt.Sprintf("value does not match regex pattern %q", p) }
