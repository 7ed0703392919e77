package re2

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

// kind is the kind of a node. Go's parser reads RE2's syntax but makes a slightly different tree. This is RE2's tree.
type kind uint8

const (
	noMatch   kind = iota
	empty          // matches the empty string
	literal        // one rune, or a string of them
	class          // one rune out of ranges
	anyRune        // any rune, newlines too
	anyByte        // \C
	emptyOp        // ^ $ \b and the like
	capture        // (…)
	star           // …*
	plus           // …+
	quest          // …?
	repeat         // …{min,max}
	concat         // one after the other
	alternate      // …|…
)

type node struct {
	kind     kind
	flags    syntax.Flags // of a repetition: RE2 compares them; of a literal only FoldCase is left
	runes    []rune       // a literal's, or the pairs of a class
	op       syntax.Op    // of emptyOp
	min, max int
	sub      []*node
}

// parser makes RE2's tree of an expression that Go's parser accepts.
type parser struct{ charset Charset }

func (p parser) parse(expression string) (*node, error) {
	re, err := syntax.Parse(p.charset.markUp(expression), syntax.Perl)
	if err != nil {
		return nil, err
	}
	return p.convert(re), nil
}

var kinds = map[syntax.Op]kind{
	syntax.OpNoMatch: noMatch, syntax.OpEmptyMatch: empty, syntax.OpAnyChar: anyRune,
	syntax.OpBeginLine: emptyOp, syntax.OpEndLine: emptyOp, syntax.OpBeginText: emptyOp, syntax.OpEndText: emptyOp,
	syntax.OpWordBoundary: emptyOp, syntax.OpNoWordBoundary: emptyOp,
	syntax.OpStar: star, syntax.OpPlus: plus, syntax.OpQuest: quest, syntax.OpRepeat: repeat, syntax.OpCapture: capture,
}

func (p parser) convert(re *syntax.Regexp) *node {
	n := &node{kind: kinds[re.Op], op: re.Op, flags: re.Flags, min: re.Min, max: re.Max}
	switch re.Op {
	case syntax.OpLiteral:
		return join(concat, p.literals(re))
	case syntax.OpAnyCharNotNL:
		return &node{kind: class, runes: []rune{0, '\n' - 1, '\n' + 1, p.charset.maxRune()}}
	case syntax.OpAnyChar:
		if re.Flags&syntax.DotNL == 0 { // not a dot, but a class that has all
			return &node{kind: class, runes: []rune{0, p.charset.maxRune()}}
		}
	case syntax.OpCharClass:
		return newClass(p.charset.clip(re.Rune))
	case syntax.OpConcat:
		var subs []*node
		for _, sub := range re.Sub {
			switch c := p.convert(sub); {
			case isMark(sub):
			case c.kind == concat:
				subs = append(subs, c.sub...)
			default:
				subs = append(subs, c)
			}
		}
		return join(concat, subs)
	case syntax.OpAlternate:
		var subs []*node
		group := ""
		for _, sub := range re.Sub {
			own := groupOf(sub)
			subs = addAlternative(subs, p.convert(sub), group == "" || group == own)
			group = own
		}
		return p.charset.alternation(subs)
	case syntax.OpCapture:
		switch {
		case isMark(re):
			return &node{kind: empty}
		case strings.HasPrefix(re.Name, byteMark):
			return &node{kind: anyByte}
		}
	}
	for _, sub := range re.Sub {
		n.sub = append(n.sub, p.convert(sub))
	}
	switch n.kind {
	case star, plus, quest:
		return squash(n)
	case emptyOp:
		if n.op != syntax.OpEndText {
			n.flags = 0
		}
		n.flags &= syntax.WasDollar
	}
	return n
}

func join(k kind, subs []*node) *node {
	switch {
	case len(subs) == 1:
		return subs[0]
	case len(subs) == 0 && k == concat:
		return &node{kind: empty}
	}
	return &node{kind: k, sub: subs}
}

// squash merges two nested repetitions: (?:a+)? becomes a*.
func squash(n *node) *node {
	sub := n.sub[0]
	if sub.kind != star && sub.kind != plus && sub.kind != quest || sub.flags != n.flags {
		return n
	}
	if sub.kind == n.kind {
		return sub
	}
	return &node{kind: star, flags: n.flags, sub: sub.sub}
}

// literals converts a string as RE2 does. A letter whose case does not matter becomes a class if it has more variants than A and a have, such as K, k and
// the Kelvin sign.
func (p parser) literals(re *syntax.Regexp) (list []*node) {
	fold := re.Flags & syntax.FoldCase
	for _, r := range re.Rune {
		if p.charset == Latin1 && r > unicode.MaxASCII {
			r -= stand
		}
		if fold != 0 {
			variants := p.charset.variants(r)
			if len(variants) > 4 || len(variants) == 4 && r > unicode.MaxASCII {
				list = append(list, newClass(variants))
				continue
			}
			r = toLower(r)
		}
		if last := len(list) - 1; last >= 0 && list[last].kind == literal {
			list[last].runes = append(list[last].runes, r)
			continue
		}
		list = append(list, &node{kind: literal, flags: fold, runes: []rune{r}})
	}
	return list
}

// variants of a letter, as ranges. Latin-1 folds those of ASCII alone.
func (c Charset) variants(r rune) []rune {
	variants := []rune{r, r}
	for v := unicode.SimpleFold(r); v != r; v = unicode.SimpleFold(v) {
		if c == UTF8 || v <= unicode.MaxASCII && r <= unicode.MaxASCII {
			variants = append(variants, v, v)
		}
	}
	return merge(variants)
}

func toLower(r rune) rune {
	if r >= 'A' && r <= 'Z' {
		return r + ('a' - 'A')
	}
	return r
}

// newClass returns a class, or the literal that RE2 makes of a class with a single character.
func newClass(pairs []rune) *node {
	switch {
	case len(pairs) == 2 && pairs[0] == pairs[1]:
		return &node{kind: literal, runes: pairs[:1]}
	case len(pairs) == 4 && pairs[0] == pairs[1] && pairs[2] == pairs[3] && pairs[0] != toLower(pairs[0]) && pairs[2] == toLower(pairs[0]):
		return &node{kind: literal, flags: syntax.FoldCase, runes: pairs[2:3]}
	}
	return &node{kind: class, runes: pairs}
}

// merge sorts ranges and joins those that overlap or touch.
func merge(pairs []rune) []rune {
	type span struct{ lo, hi rune }
	spans := make([]span, 0, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		spans = append(spans, span{pairs[i], pairs[i+1]})
	}
	slices.SortFunc(spans, func(a, b span) int { return int(a.lo - b.lo) })
	var out []rune
	for _, s := range spans {
		if n := len(out); n > 0 && s.lo <= out[n-1]+1 {
			out[n-1] = max(out[n-1], s.hi)
			continue
		}
		out = append(out, s.lo, s.hi)
	}
	return out
}

// equal reports whether two nodes match the same. They must not have subnodes, or be repetitions of nodes without subnodes.
func equal(a, b *node) bool {
	if a == nil || b == nil || a.kind != b.kind || len(a.sub) != len(b.sub) || !slices.Equal(a.runes, b.runes) {
		return false
	}
	switch a.kind {
	case literal:
		return a.flags == b.flags
	case emptyOp:
		return a.op == b.op && a.flags == b.flags
	case star, plus, quest, repeat:
		return a.flags&syntax.NonGreedy == b.flags&syntax.NonGreedy && a.min == b.min && a.max == b.max && equal(a.sub[0], b.sub[0])
	}
	return len(a.sub) == 0
}
