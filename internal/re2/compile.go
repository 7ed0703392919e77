package re2

import (
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// Compiler in re2/compile.cc: the instructions for a tree, byte by byte.

type opcode uint8

const (
	fail opcode = iota
	alt
	altMatch
	byteRange
	other // a capture's beginning or end (lo: isCapture), or ^ $ \b: only their number counts
	nop
	match
)

// isCapture marks captures among the nodes of kind other.
const isCapture = 1

type inst struct {
	op        opcode
	lo, hi    byte
	fold      bool
	out, out1 int
}

// maxInst is the number of instructions that fit into RE2's default memory limit.
const maxInst = 8 << 20 * 2 / 3 / 8

// frag is a part of the program. end lists what has to be patched: instruction*2 for out, and one more for out1.
type frag struct {
	begin    int
	end      []int
	nullable bool
}

type program struct {
	inst              []inst
	start, unanchored int
	tooLarge          bool
	charset           Charset

	cache map[inst]int // of the class that is being compiled
	class frag
}

func compile(n *node, charset Charset) *program {
	p := &program{inst: make([]inst, 1, 64), charset: charset}
	n, anchored := cutAnchor(n, syntax.OpBeginText, 0)
	n, _ = cutAnchor(n, syntax.OpEndText, 0)
	all := p.cat(p.walk(n), p.add(inst{op: match}, false))
	p.start = all.begin
	if !anchored {
		dot := p.add(inst{op: byteRange, hi: 0xff}, false)
		all = p.cat(p.loop(dot, true), all)
	}
	p.unanchored = all.begin
	return p
}

// cutAnchor removes the ^ at the beginning, or the $ at the end, of the whole expression.
func cutAnchor(n *node, op syntax.Op, depth int) (*node, bool) {
	if depth >= 4 {
		return n, false
	}
	switch n.kind {
	case emptyOp:
		if n.op == op {
			return &node{kind: empty}, true
		}
	case concat, capture:
		i := 0
		if op == syntax.OpEndText {
			i = len(n.sub) - 1
		}
		if sub, ok := cutAnchor(n.sub[i], op, depth+1); ok {
			copied := *n
			copied.sub = slices.Clone(n.sub)
			copied.sub[i] = sub
			return &copied, true
		}
	}
	return n, false
}

func (p *program) add(i inst, nullable bool) frag {
	if len(p.inst) >= maxInst {
		p.tooLarge = true
		return frag{}
	}
	p.inst = append(p.inst, i)
	id := len(p.inst) - 1
	if i.op == match {
		return frag{begin: id}
	}
	return frag{begin: id, end: []int{id << 1}, nullable: nullable}
}

func (p *program) patch(ends []int, to int) {
	for _, end := range ends {
		if end&1 == 1 {
			p.inst[end>>1].out1 = to
		} else {
			p.inst[end>>1].out = to
		}
	}
}

func (p *program) cat(a, b frag) frag {
	if a.begin == 0 || b.begin == 0 {
		return frag{}
	}
	p.patch(a.end, b.begin)
	if p.inst[a.begin].op == nop && len(a.end) == 1 && a.end[0] == a.begin<<1 {
		return b
	}
	return frag{a.begin, b.end, a.nullable && b.nullable}
}

func (p *program) alt(a, b frag) frag {
	switch {
	case a.begin == 0:
		return b
	case b.begin == 0:
		return a
	}
	f := p.add(inst{op: alt, out: a.begin, out1: b.begin}, false)
	return frag{f.begin, append(slices.Clip(a.end), b.end...), a.nullable || b.nullable}
}

// fork adds the instruction that either enters a or skips it, and returns the end for the skip.
func (p *program) fork(a frag, nonGreedy bool) (id, past int) {
	id = p.add(inst{op: alt}, false).begin
	if nonGreedy {
		p.inst[id].out1 = a.begin
		return id, id << 1
	}
	p.inst[id].out = a.begin
	return id, id<<1 | 1
}

func (p *program) plus(a frag, nonGreedy bool) frag {
	id, past := p.fork(a, nonGreedy)
	p.patch(a.end, id)
	return frag{a.begin, []int{past}, a.nullable}
}

func (p *program) loop(a frag, nonGreedy bool) frag {
	if a.nullable {
		return p.quest(p.plus(a, nonGreedy), nonGreedy)
	}
	id, past := p.fork(a, nonGreedy)
	p.patch(a.end, id)
	return frag{id, []int{past}, true}
}

func (p *program) quest(a frag, nonGreedy bool) frag {
	if a.begin == 0 {
		return p.add(inst{op: nop}, true)
	}
	id, past := p.fork(a, nonGreedy)
	return frag{id, append([]int{past}, a.end...), true}
}

func (p *program) walk(n *node) frag {
	if p.tooLarge {
		return frag{}
	}
	nonGreedy := n.flags&syntax.NonGreedy != 0
	switch n.kind {
	case empty:
		return p.add(inst{op: nop}, true)
	case emptyOp:
		return p.add(inst{op: other}, true)
	case literal:
		var f frag
		for i, r := range n.runes {
			if f1 := p.literal(r, n.flags != 0); i == 0 {
				f = f1
			} else {
				f = p.cat(f, f1)
			}
		}
		return f
	case anyRune:
		return p.ranges([]rune{0, p.charset.maxRune()})
	case anyByte:
		return p.add(inst{op: byteRange, hi: 0xff}, false)
	case class:
		return p.ranges(n.runes)
	case capture:
		a := p.walk(n.sub[0])
		if a.begin == 0 {
			return a
		}
		open := p.add(inst{op: other, lo: isCapture, out: a.begin}, false)
		end := p.add(inst{op: other, lo: isCapture}, false)
		p.patch(a.end, end.begin)
		return frag{open.begin, end.end, a.nullable}
	case star:
		return p.loop(p.walk(n.sub[0]), nonGreedy)
	case plus:
		return p.plus(p.walk(n.sub[0]), nonGreedy)
	case quest:
		return p.quest(p.walk(n.sub[0]), nonGreedy)
	case concat, alternate:
		frags := make([]frag, len(n.sub))
		for i, sub := range n.sub {
			frags[i] = p.walk(sub)
		}
		f := frags[0]
		for _, next := range frags[1:] {
			if n.kind == concat {
				f = p.cat(f, next)
			} else {
				f = p.alt(f, next)
			}
		}
		return f
	}
	return frag{}
}

func (p *program) literal(r rune, fold bool) frag {
	if r < utf8.RuneSelf || p.charset == Latin1 {
		return p.add(inst{op: byteRange, lo: byte(r), hi: byte(r), fold: fold}, false)
	}
	var f frag
	for i, b := range utf8.AppendRune(nil, r) {
		if f1 := p.add(inst{op: byteRange, lo: b, hi: b}, false); i == 0 {
			f = f1
		} else {
			f = p.cat(f, f1)
		}
	}
	return f
}

// cutPrefix removes ^ and the literal behind it from an expression that begins with them. RE2 compares such a prefix
// separately.
func cutPrefix(n *node) *node {
	if n.kind != concat {
		return n
	}
	i := 0
	for i < len(n.sub) && n.sub[i].kind == emptyOp && n.sub[i].op == syntax.OpBeginText {
		i++
	}
	if i == 0 || i == len(n.sub) || n.sub[i].kind != literal {
		return n
	}
	return join(concat, n.sub[i+1:])
}
