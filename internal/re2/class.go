package re2

import (
	"unicode"
	"unicode/utf8"
)

// How RE2 compiles a class of runes: an alternation of byte sequences that share their tails and, as a trie, their heads.

func (p *program) ranges(pairs []rune) frag {
	p.cache, p.class = map[inst]int{}, frag{}
	fold := foldsASCII(pairs)
	for i := 0; i < len(pairs); i += 2 {
		lo, hi := pairs[i], pairs[i+1]
		if fold && lo >= 'A' && hi <= 'Z' {
			continue // the lower ones stand for them
		}
		needless := lo <= 'A' && hi >= 'z' || hi < 'A' || lo > 'z' || lo > 'Z' && hi < 'a'
		p.addRange(lo, hi, fold && !needless)
	}
	return p.class
}

// foldsASCII reports whether a class has both cases or neither case of each ASCII letter.
func foldsASCII(pairs []rune) bool {
	has := func(r rune) bool {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] <= r && r <= pairs[i+1] {
				return true
			}
		}
		return false
	}
	for r := 'a'; r <= 'z'; r++ {
		if has(r) != has(r-('a'-'A')) {
			return false
		}
	}
	return true
}

// maxOfLength has the greatest runes of 1, 2 and 3 bytes.
var maxOfLength = [...]rune{0x7f, 0x7ff, 0xffff}

func (p *program) addRange(lo, hi rune, fold bool) {
	if p.charset == Latin1 {
		p.addSuffix(p.suffix(byte(lo), byte(hi), fold, 0))
		return
	}
	if lo == 0x80 && hi == unicode.MaxRune {
		p.addAllMultibyte()
		return
	}
	for _, most := range maxOfLength {
		if lo <= most && most < hi {
			p.addRange(lo, most, fold)
			p.addRange(most+1, hi, fold)
			return
		}
	}
	if hi < utf8.RuneSelf {
		p.addSuffix(p.suffix(byte(lo), byte(hi), fold, 0))
		return
	}
	for i := 1; i < utf8.UTFMax; i++ {
		tail := rune(1)<<(6*i) - 1
		if lo&^tail == hi&^tail {
			continue
		}
		if lo&tail != 0 {
			p.addRange(lo, lo|tail, fold)
			p.addRange(lo|tail+1, hi, fold)
			return
		}
		if hi&tail != tail {
			p.addRange(lo, hi&^tail-1, fold)
			p.addRange(hi&^tail, hi, fold)
			return
		}
	}
	low, high := encode(lo), encode(hi)
	id := 0
	for i := len(low) - 1; i >= 0; i-- {
		if i == len(low)-1 || low[i] < high[i] && i != 0 {
			id = p.cachedSuffix(low[i], high[i], id)
		} else {
			id = p.suffix(low[i], high[i], false, id)
		}
	}
	p.addSuffix(id)
}

// encode encodes a rune in UTF-8. Unlike Go's encoder it accepts surrogates, which RE2's classes can contain.
func encode(r rune) []byte {
	if r >= 0xd800 && r <= 0xdfff {
		return []byte{0xe0 | byte(r>>12), 0x80 | byte(r>>6)&0x3f, 0x80 | byte(r)&0x3f}
	}
	return utf8.AppendRune(nil, r)
}

// addAllMultibyte adds the range of all characters that are not ASCII, which RE2 encodes less exactly.
func (p *program) addAllMultibyte() {
	next := 0
	for _, head := range [][2]byte{{0xc2, 0xdf}, {0xe0, 0xef}, {0xf0, 0xf4}} {
		next = p.suffix(0x80, 0xbf, false, next)
		p.addSuffix(p.suffix(head[0], head[1], false, next))
	}
}

func (p *program) suffix(lo, hi byte, fold bool, next int) int {
	f := p.add(inst{op: byteRange, lo: lo, hi: hi, fold: fold, out: next}, false)
	if next == 0 {
		p.class.end = append(p.class.end, f.end...)
	}
	return f.begin
}

func (p *program) cachedSuffix(lo, hi byte, next int) int {
	key := inst{op: byteRange, lo: lo, hi: hi, out: next}
	if id, ok := p.cache[key]; ok {
		return id
	}
	id := p.suffix(lo, hi, false, next)
	p.cache[key] = id
	return id
}

func (p *program) isCached(id int) bool {
	_, ok := p.cache[p.inst[id]]
	return ok
}

func (p *program) addSuffix(id int) {
	switch {
	case p.tooLarge:
	case p.class.begin == 0:
		p.class.begin = id
	case p.charset == Latin1:
		p.class.begin = p.add(inst{op: alt, out: p.class.begin, out1: id}, false).begin
	default:
		p.class.begin = p.addToTrie(p.class.begin, id)
	}
}

// addToTrie adds a range to a trie, and returns its new root.
func (p *program) addToTrie(root, id int) int {
	head, parent := root, 0 // the node that takes the same byte, and the alternation that leads to it
	if p.inst[root].op == alt {
		head, parent = p.inst[root].out1, root
	}
	if !p.sameRange(head, id) {
		return p.add(inst{op: alt, out: root, out1: id}, false).begin
	}
	if p.isCached(head) {
		head = p.add(p.inst[head], false).begin
		if parent == 0 {
			root = head
		} else {
			p.inst[parent].out1 = head
		}
	}
	out := p.inst[id].out
	if !p.isCached(id) && id == len(p.inst)-1 {
		p.inst = p.inst[:id]
	}
	p.inst[head].out = p.addToTrie(p.inst[head].out, out)
	return root
}

func (p *program) sameRange(a, b int) bool {
	x, y := p.inst[a], p.inst[b]
	return x.lo == y.lo && x.hi == y.hi && x.fold == y.fold
}
