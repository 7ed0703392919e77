package re2

// What RE2's parser does to alternations: Regexp::FactorAlternation in re2/parse.cc.

// addAlternative adds an alternative to those before it. An alternative that takes any character absorbs a neighbour
// that takes one character, unless the neighbour is part of a group.
func addAlternative(list []*node, n *node, neighbours bool) []*node {
	if last := len(list) - 1; last == 0 || last > 0 && neighbours {
		switch {
		case list[last].kind == anyRune && isOne(n):
			return list
		case n.kind == anyRune && isOne(list[last]):
			list[last] = n
			return list
		}
	}
	return append(list, n)
}

// isOne reports whether a node matches one character.
func isOne(n *node) bool {
	return n.kind == anyRune || n.kind == class || n.kind == literal && len(n.runes) == 1
}

// isOneChar is like isOne, and accepts \C too.
func isOneChar(n *node) bool { return n.kind == anyByte || isOne(n) }

func (c Charset) alternation(list []*node) *node {
	if len(list) == 1 {
		return list[0]
	}
	var flat []*node
	for _, n := range list {
		if n.kind == alternate {
			flat = append(flat, n.sub...)
		} else {
			flat = append(flat, n)
		}
	}
	return join(alternate, c.factor(flat))
}

// factor factors out the common beginnings of alternatives: ab|ac becomes a(?:b|c), and that becomes a[bc].
func (c Charset) factor(list []*node) []*node {
	list = runs(list, commonString, func(run []*node) *node {
		prefix, _ := leadingString(run[0])
		length := len(prefix.runes)
		for _, n := range run[1:] {
			other, _ := leadingString(n)
			length = min(length, common(prefix, other))
		}
		first := &node{kind: literal, flags: prefix.flags, runes: append([]rune(nil), prefix.runes[:length]...)}
		for i, n := range run {
			run[i] = cutString(n, length)
		}
		return &node{kind: concat, sub: []*node{first, join(alternate, c.factor(run))}}
	})
	list = runs(list, commonFirst, func(run []*node) *node {
		first := leading(run[0])
		for i, n := range run {
			run[i] = cutFirst(n)
		}
		return &node{kind: concat, sub: []*node{first, join(alternate, c.factor(run))}}
	})
	return runs(list, bothOne, func(run []*node) *node {
		var pairs []rune
		for _, n := range run {
			pairs = append(pairs, c.rangesOf(n)...)
		}
		return &node{kind: class, runes: merge(pairs)}
	})
}

// runs replaces each run of two or more nodes that belong together.
func runs(list []*node, together func(run []*node, n *node) bool, replace func(run []*node) *node) (out []*node) {
	for start := 0; start < len(list); {
		end := start + 1
		for end < len(list) && together(list[start:end], list[end]) {
			end++
		}
		if end == start+1 {
			out = append(out, list[start])
		} else {
			out = append(out, replace(append([]*node(nil), list[start:end]...)))
		}
		start = end
	}
	return out
}

func bothOne(run []*node, n *node) bool {
	return isOne(run[0]) && isOne(n) && run[0].kind != anyRune && n.kind != anyRune
}

func (c Charset) rangesOf(n *node) []rune {
	if n.kind == class {
		return n.runes
	}
	if n.flags != 0 {
		return c.variants(n.runes[0])
	}
	return []rune{n.runes[0], n.runes[0]}
}

// commonString reports whether a node begins with a part of the common string of a run.
func commonString(run []*node, n *node) bool {
	prefix, ok := leadingString(run[0])
	other, otherOK := leadingString(n)
	return ok && otherOK && prefix.flags == other.flags && common(prefix, other) > 0
}

func common(a, b *node) (length int) {
	for length < len(a.runes) && length < len(b.runes) && a.runes[length] == b.runes[length] {
		length++
	}
	return length
}

func leadingString(n *node) (*node, bool) {
	for n.kind == concat {
		n = n.sub[0]
	}
	return n, n.kind == literal
}

// cutString removes the first runes from a node that begins with them.
func cutString(n *node, length int) *node {
	switch {
	case n.kind == concat:
		first := cutString(n.sub[0], length)
		if first.kind == empty {
			return join(concat, n.sub[1:])
		}
		return &node{kind: concat, sub: append([]*node{first}, n.sub[1:]...)}
	case length == len(n.runes):
		return &node{kind: empty}
	}
	return &node{kind: literal, flags: n.flags, runes: n.runes[length:]}
}

// commonFirst reports whether a node begins with the same simple node as the run.
func commonFirst(run []*node, n *node) bool {
	first := leading(run[0])
	if first == nil || !equal(first, leading(n)) {
		return false
	}
	switch first.kind {
	case emptyOp, class, anyRune, anyByte:
		return true
	case repeat:
		return first.min == first.max && isOneChar(first.sub[0])
	}
	return false
}

func leading(n *node) *node {
	if n.kind == concat {
		n = n.sub[0]
	}
	if n.kind == empty {
		return nil
	}
	return n
}

func cutFirst(n *node) *node {
	if n.kind == concat {
		return join(concat, n.sub[1:])
	}
	return &node{kind: empty}
}
