package re2

import "slices"

// Prog::Optimize and Prog::Flatten in re2/prog.cc: most alternations are taken out of the program again.

// size is the number of instructions that are left.
func (p *program) size() int {
	if p.start == 0 && p.unanchored == 0 {
		return 1
	}
	p.skipNops()
	p.markMatches()
	f := &flattener{program: p, root: make([]bool, len(p.inst)), pred: make([][]int, len(p.inst)), seen: make([]int, len(p.inst))}
	f.markRoot(0)
	f.markRoot(p.unanchored)
	f.markRoot(p.start)
	f.markSuccessors()
	sorted := slices.Sorted(slices.Values(f.roots))
	for _, id := range slices.Backward(sorted[1:]) {
		if id != p.unanchored && id != p.start {
			f.markDominators(id)
		}
	}
	total := 0
	for _, id := range f.roots {
		total += f.count(id)
	}
	return total
}

// each calls f for every instruction that can be reached from the start.
func (p *program) each(f func(id int)) {
	seen, queue := make([]bool, len(p.inst)), []int{}
	enqueue := func(id int) {
		if id != 0 && !seen[id] {
			seen[id] = true
			queue = append(queue, id)
		}
	}
	enqueue(p.start)
	for i := 0; i < len(queue); i++ {
		id := queue[i]
		f(id)
		enqueue(p.inst[id].out)
		if p.inst[id].op == alt || p.inst[id].op == altMatch {
			enqueue(p.inst[id].out1)
		}
	}
}

func (p *program) skipNops() {
	past := func(id int) int {
		for id != 0 && p.inst[id].op == nop {
			id = p.inst[id].out
		}
		return id
	}
	p.each(func(id int) {
		ip := &p.inst[id]
		ip.out = past(ip.out)
		if ip.op == alt {
			ip.out1 = past(ip.out1)
		}
	})
}

// markMatches finds loops over any byte that end in a match.
func (p *program) markMatches() {
	p.each(func(id int) {
		ip := &p.inst[id]
		if ip.op != alt {
			return
		}
		if p.anyByteTo(ip.out, id) && p.isMatch(ip.out1) || p.isMatch(ip.out) && p.anyByteTo(ip.out1, id) {
			ip.op = altMatch
		}
	})
}

func (p *program) anyByteTo(id, to int) bool {
	i := p.inst[id]
	return i.op == byteRange && i.out == to && i.lo == 0 && i.hi == 0xff
}

func (p *program) isMatch(id int) bool {
	for p.inst[id].op == nop || p.inst[id].op == other && p.inst[id].lo == isCapture {
		id = p.inst[id].out
	}
	return p.inst[id].op == match
}

type flattener struct {
	*program
	roots []int // in the order of their marking
	root  []bool
	pred  [][]int // the alternations that lead to an instruction

	seen  []int // in which search an instruction was last reached
	nth   int
	stack []int
}

func (f *flattener) markRoot(id int) {
	if !f.root[id] {
		f.root[id] = true
		f.roots = append(f.roots, id)
	}
}

// search visits the instructions that can be reached from id, each once, and the first branch of a fork first. It
// continues from an instruction if visit returns true.
func (f *flattener) search(id int, visit func(id int, ip *inst) bool) {
	f.nth++
	f.stack = append(f.stack[:0], id)
	for len(f.stack) > 0 {
		id := f.stack[len(f.stack)-1]
		f.stack = f.stack[:len(f.stack)-1]
		if f.seen[id] == f.nth {
			continue
		}
		f.seen[id] = f.nth
		ip := &f.inst[id]
		if !visit(id, ip) || ip.op == match || ip.op == fail {
			continue
		}
		if ip.op == alt || ip.op == altMatch {
			f.stack = append(f.stack, ip.out1)
		}
		f.stack = append(f.stack, ip.out)
	}
}

func (f *flattener) markSuccessors() {
	f.search(f.unanchored, func(id int, ip *inst) bool {
		switch ip.op {
		case alt, altMatch:
			f.pred[ip.out] = append(f.pred[ip.out], id)
			f.pred[ip.out1] = append(f.pred[ip.out1], id)
		case byteRange, other:
			f.markRoot(ip.out)
		}
		return true
	})
}

// markDominators makes an instruction in the tree of a root a root of its own if an instruction outside of the tree
// leads to it.
func (f *flattener) markDominators(root int) {
	var reached []int
	f.search(root, func(id int, ip *inst) bool {
		reached = append(reached, id)
		return (id == root || !f.root[id]) && ip.op != byteRange && ip.op != other
	})
	for _, id := range reached {
		for _, pred := range f.pred[id] {
			if f.seen[pred] != f.nth {
				f.markRoot(id)
			}
		}
	}
}

// count returns the number of instructions that the tree of a root becomes.
func (f *flattener) count(root int) (n int) {
	f.search(root, func(id int, ip *inst) bool {
		if id != root && f.root[id] {
			n++
			return false
		}
		switch ip.op {
		case alt, nop:
			return true
		}
		n++
		return ip.op == altMatch
	})
	return n
}
