package walk

import (
	"regexp/syntax"
	"strconv"
	"strings"
)

// samples returns strings that fit an expression as a whole, and some next to them.
func samples(expression string) []string {
	tree, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return nil
	}
	short, long := sample(tree, false), sample(tree, true)
	return []string{short, long, short + "x", long + "/x", "x" + short}
}

// sample returns a string that fits, with as few or with some repetitions.
func sample(r *syntax.Regexp, long bool) string {
	switch r.Op {
	case syntax.OpLiteral:
		return string(r.Rune)
	case syntax.OpCharClass:
		return oneOf(r.Rune, long)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return "z"
	case syntax.OpCapture, syntax.OpPlus:
		return sample(r.Sub[0], long)
	case syntax.OpStar, syntax.OpQuest:
		if long {
			return sample(r.Sub[0], long)
		}
	case syntax.OpRepeat:
		n := max(r.Min, 0)
		if long && n == 0 {
			n = 1
		}
		return strings.Repeat(sample(r.Sub[0], long), min(n, 64))
	case syntax.OpConcat:
		var b strings.Builder
		for _, sub := range r.Sub {
			b.WriteString(sample(sub, long))
		}
		return b.String()
	case syntax.OpAlternate:
		if long {
			return sample(r.Sub[len(r.Sub)-1], long)
		}
		return sample(r.Sub[0], long)
	}
	return ""
}

// oneOf returns a printable character of a class.
func oneOf(ranges []rune, last bool) string {
	for i := 0; i+1 < len(ranges); i += 2 {
		for c := max(ranges[i], '!'); c <= min(ranges[i+1], '~'); c++ {
			if !last || c == min(ranges[i+1], '~') {
				return string(c)
			}
		}
	}
	return "a"
}

// numbers returns numbers at the boundary of a range.
func numbers(start, end int64) (all []string) {
	for _, n := range []int64{start - 1, start, end - 1, end} {
		all = append(all, strconv.FormatInt(n, 10))
	}
	return append(all, "1.5", "+"+strconv.FormatInt(start, 10))
}
