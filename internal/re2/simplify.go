package re2

import "regexp/syntax"

// Regexp::Simplify in re2/simplify.cc: repetitions of the same thing are joined, then counted ones are written out.

func simplify(n *node) *node {
	subs := make([]*node, len(n.sub))
	for i, sub := range n.sub {
		subs[i] = simplify(sub)
	}
	switch n.kind {
	case star, plus, quest:
		sub := subs[0]
		if sub.kind == empty || sub != n.sub[0] && sub.kind == n.kind && sub.flags == n.flags {
			return sub
		}
	case repeat:
		if subs[0].kind == empty {
			return subs[0]
		}
		return expand(subs[0], n.min, n.max, n.flags)
	}
	if len(subs) == 0 {
		return n
	}
	copied := *n
	copied.sub = subs
	return &copied
}

// expand rewrites repetitions: x{2,5} becomes xx(x(x(x)?)?)?.
func expand(n *node, low, high int, flags syntax.Flags) *node {
	if isEmptyWidth(n) {
		low, high = min(low, 1), min(high, 1)
	}
	switch {
	case high == -1 && low == 0:
		return squash(&node{kind: star, flags: flags, sub: []*node{n}})
	case high == -1:
		return join(concat, append(copies(n, low-1), squash(&node{kind: plus, flags: flags, sub: []*node{n}})))
	case high == 0:
		return &node{kind: empty}
	case low == 1 && high == 1:
		return n
	}
	var all *node
	if low > 0 {
		all = join(concat, copies(n, low))
	}
	if high > low {
		rest := squash(&node{kind: quest, flags: flags, sub: []*node{n}})
		for range high - low - 1 {
			rest = squash(&node{kind: quest, flags: flags, sub: []*node{{kind: concat, sub: []*node{n, rest}}}})
		}
		if all == nil {
			return rest
		}
		return &node{kind: concat, sub: []*node{all, rest}}
	}
	return all
}

func copies(n *node, count int) []*node {
	list := make([]*node, count, count+1)
	for i := range list {
		list[i] = n
	}
	return list
}

func isEmptyWidth(n *node) bool {
	if n.kind != concat && n.kind != alternate {
		return n.kind == emptyOp
	}
	for _, sub := range n.sub {
		if sub.kind != emptyOp {
			return false
		}
	}
	return true
}

// coalesce joins neighbours: a*aa becomes a{2,}.
func coalesce(n *node) *node {
	if len(n.sub) == 0 {
		return n
	}
	copied := *n
	copied.sub = make([]*node, len(n.sub))
	for i, sub := range n.sub {
		copied.sub[i] = coalesce(sub)
	}
	if n.kind != concat {
		return &copied
	}
	subs, joined := copied.sub, false
	for i := range len(subs) - 1 {
		if canCoalesce(subs[i], subs[i+1]) {
			subs[i], subs[i+1] = coalesced(subs[i], subs[i+1])
			joined = true
		}
	}
	if joined {
		copied.sub = nil
		for _, sub := range subs {
			if sub.kind != empty {
				copied.sub = append(copied.sub, sub)
			}
		}
	}
	return &copied
}

func isRepetition(n *node) bool {
	return n.kind == star || n.kind == plus || n.kind == quest || n.kind == repeat
}

func canCoalesce(a, b *node) bool {
	if !isRepetition(a) || !isOneChar(a.sub[0]) {
		return false
	}
	one := a.sub[0]
	if isRepetition(b) && equal(one, b.sub[0]) && a.flags&syntax.NonGreedy == b.flags&syntax.NonGreedy {
		return true
	}
	return equal(one, b) || one.kind == literal && b.kind == literal && b.runes[0] == one.runes[0] && b.flags == one.flags
}

// bounds of a repetition, or of something that occurs once.
func bounds(n *node) (low, high int) {
	switch n.kind {
	case star:
		return 0, -1
	case plus:
		return 1, -1
	case quest:
		return 0, 1
	case repeat:
		return n.min, n.max
	}
	return 1, 1
}

func coalesced(a, b *node) (*node, *node) {
	joined := &node{kind: repeat, flags: a.flags, sub: a.sub}
	low, high := bounds(a)
	low2, high2 := bounds(b)
	rest := 0 // of a string
	if b.kind == literal && len(b.runes) > 1 {
		low2 = 1
		for low2 < len(b.runes) && b.runes[low2] == b.runes[0] {
			low2++
		}
		high2, rest = low2, len(b.runes)-low2
	}
	joined.min, joined.max = low+low2, high+high2
	if high == -1 || high2 == -1 {
		joined.max = -1
	}
	if rest > 0 {
		return joined, &node{kind: literal, flags: b.flags, runes: b.runes[low2:]}
	}
	return &node{kind: empty}, joined
}
