package lua

// scope is a block, in which its labels and locals are known.
type scope struct {
	marks  int // how many marks come before it
	locals int // how many locals are around it
}

// mark is a label, or a jump to one. Marks that are settled have no name.
type mark struct {
	name   token
	jump   bool
	locals int // how many are in scope there
}

// maxMarks is how many marks of a function are followed at once: each label is compared with all of them.
const maxMarks = 4096

func (p *parser) mark(name token, jump bool) {
	if len(p.inner.marks) == maxMarks {
		p.giveUp()
	}
	p.inner.marks = append(p.inner.marks, mark{name, jump, p.inner.locals})
}

// within parses a block, and then matches its labels with the jumps that come after them (gola_fixup of lj_parse.c). Jumps whose labels
// are not in the block leave it.
func (p *parser) within(parse func()) {
	outer := p.inner.scope
	p.inner.scope = scope{len(p.inner.marks), p.inner.locals}
	parse()
	inside := p.inner.marks[p.inner.scope.marks:]
	p.inner.marks = p.inner.marks[:p.inner.scope.marks]
	for i, m := range inside {
		if !m.jump {
			settle(inside[i+1:], m)
		} else if m.name.text != "" {
			m.locals = p.inner.scope.locals
			p.inner.marks = append(p.inner.marks, m)
		}
	}
	p.inner.locals, p.inner.scope = p.inner.scope.locals, outer
}

// settle matches a label with the jumps to it, and returns the first one that is in the scope of fewer locals.
func settle(marks []mark, label mark) (into token, bad bool) {
	for i := range marks {
		if m := &marks[i]; m.jump && m.name.text == label.name.text {
			if m.locals < label.locals && !bad {
				into, bad = m.name, true
			}
			m.name.text = ""
		}
	}
	return into, bad
}

// label parses a label and those that follow it, and matches it with the jumps that come before it (parse_label and gola_resolve).
func (p *parser) label() {
	p.advance()
	label := p.token
	p.expect(name)
	for _, m := range p.inner.marks[p.inner.scope.marks:] {
		if !m.jump && m.name.text == label.text {
			p.failAt(label.at, "there are two labels %s", quote(label.text))
		}
	}
	at := len(p.inner.marks)
	p.mark(label, false)
	p.expect("::")
	for p.is("::") || p.is(";") {
		if p.is("::") {
			p.nested(p.label)
		} else {
			p.advance()
		}
	}
	if p.is(end) || closes[p.token.kind] && !p.is("until") { // a label at the end of a block is outside of the scope of its locals
		p.inner.marks[at].locals = p.inner.scope.locals
	}
	if jump, bad := settle(p.inner.marks[p.inner.scope.marks:at], p.inner.marks[at]); bad {
		p.failAt(jump.at, "goto %s jumps into the scope of a local", quote(label.text))
	}
}

// lost reports a jump that left the function.
func (p *parser) lost() {
	for _, m := range p.inner.marks {
		p.failAt(m.name.at, "there is no label %s", quote(m.name.text))
	}
}
