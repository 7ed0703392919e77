package lua

// maxDepth bounds the recursion. LuaJIT has such a limit too (LJ_MAX_XLEVEL).
const maxDepth = 190

// closes are the keywords that end a block, besides the end of the code.
var closes = map[string]bool{"end": true, "else": true, "elseif": true, "until": true}

// parser follows lj_parse.c.
type parser struct {
	lexer  lexer
	token  token
	ahead  *token
	depth  int
	gaveUp bool // the code is nested too deep, or has too many labels
	inner  body

	functions int             // how many are around, with the chunk itself
	unsure    int             // how many conditions and functions are around: 0 is what runs when the code is loaded
	left      bool            // what follows in the chunk may not run
	uses      []use           // names that are called or indexed when the code is loaded
	defined   map[string]bool // names of locals, parameters and globals that something sets
	opaque    bool            // the code can set globals in other ways
}

// body is the function that is being parsed.
type body struct {
	variadic bool
	loops    int
	locals   int    // in scope
	marks    []mark // labels in scope, and jumps whose labels are not known yet
	scope    scope
}

func (p *parser) advance() {
	if p.ahead != nil {
		p.token, p.ahead = *p.ahead, nil
	} else {
		p.token = p.lexer.next()
	}
}

func (p *parser) peek() string {
	if p.ahead == nil {
		next := p.lexer.next()
		p.ahead = &next
	}
	return p.ahead.kind
}

func (p *parser) is(kind string) bool { return p.token.kind == kind }

// take goes over a token if it is the next one.
func (p *parser) take(kind string) bool {
	if !p.is(kind) {
		return false
	}
	p.advance()
	return true
}

// fail notes a mistake at the token. What follows is the end.
func (p *parser) fail(format string, args ...any) { p.failAt(p.token.at, format, args...) }

func (p *parser) failAt(at int, format string, args ...any) {
	p.lexer.fail(at, format, args...)
	p.token, p.ahead = token{kind: end, at: at}, nil
}

func (p *parser) unexpected() {
	if p.is(end) {
		p.fail("something is missing at the end")
	} else {
		p.fail("%q is not expected here", p.token.text)
	}
}

// expect goes over a token that must come.
func (p *parser) expect(kind string) (text string) {
	text = p.token.text
	switch {
	case p.take(kind):
		return text
	case kind == name:
		p.fail("a name is missing%s", p.where())
	default:
		p.fail("%q is missing%s", kind, p.where())
	}
	return ""
}

func (p *parser) where() string {
	if p.is(end) {
		return " at the end"
	}
	return " before " + quote(p.token.text)
}

// closed goes over what closes a block or bracket.
func (p *parser) closed(open token, kind string) {
	switch {
	case p.take(kind):
	case p.is(end):
		p.failAt(open.at, "%q is not closed", open.kind)
	case closes[p.token.kind] || kind == ")" || kind == "]" || kind == "}":
		p.fail("%q comes before the %q that closes %q", p.token.text, kind, open.kind)
	default:
		p.unexpected()
	}
}

// nested parses something that can contain itself.
func (p *parser) nested(parse func()) {
	p.depth++
	if p.depth > maxDepth {
		p.giveUp()
	} else {
		parse()
	}
	p.depth--
}

// giveUp ends the parsing without a result.
func (p *parser) giveUp() {
	p.gaveUp = true
	p.unexpected()
}

// maybe parses what does not run for certain when the code is loaded.
func (p *parser) maybe(parse func()) {
	p.unsure++
	parse()
	p.unsure--
}

// function parses a function.
func (p *parser) function(variadic bool, parse func()) {
	outer := p.inner
	p.inner = body{variadic: variadic}
	p.functions++
	parse()
	p.functions--
	p.lost()
	p.inner = outer
}

// block parses statements up to what closes the block.
func (p *parser) block() { p.within(p.statements) }

func (p *parser) statements() {
	p.nested(func() {
		for !p.is(end) && !closes[p.token.kind] {
			if p.is("return") {
				p.result()
				return
			}
			p.statement()
		}
	})
}

func (p *parser) result() {
	p.advance()
	if !p.is(";") && !p.is(end) && !closes[p.token.kind] {
		p.expressions()
	}
	p.take(";")
	p.leave()
	if !p.is(end) && !closes[p.token.kind] {
		p.fail("%q comes after return, which must be the last in its block", p.token.text)
	}
}

// leave notes that what follows in the chunk may not run, also if this is in a condition: a chunk often begins with if … then return end.
func (p *parser) leave() { p.left = p.left || p.functions == 1 }

func (p *parser) statement() {
	open := p.token
	switch open.kind {
	case ";":
		p.advance()
	case "::":
		p.label()
	case "goto":
		p.advance()
		p.mark(p.token, true)
		p.expect(name)
		p.leave()
	case "break":
		if p.inner.loops == 0 {
			p.fail("break is not in a loop")
		}
		p.advance()
	case "do":
		p.advance()
		p.block()
		p.closed(open, "end")
	case "if":
		p.condition(open)
	case "while", "for", "repeat":
		p.loop(open)
	case "function":
		p.advance()
		p.declaration(open)
	case "local":
		p.advance()
		p.local()
	default:
		p.assignment()
	}
}

func (p *parser) condition(open token) {
	p.advance()
	p.expression()
	p.expect("then")
	p.maybe(func() {
		p.block()
		for p.take("elseif") {
			p.expression()
			p.expect("then")
			p.block()
		}
		if p.take("else") {
			p.block()
		}
	})
	p.closed(open, "end")
}

func (p *parser) loop(open token) {
	p.advance()
	switch open.kind {
	case "while":
		p.expression()
	case "for":
		p.variables()
	}
	body := func() {
		p.inner.loops++
		p.statements()
		p.inner.loops--
	}
	if open.kind == "repeat" {
		p.maybe(func() {
			p.within(func() {
				body()
				p.closed(open, "until")
				p.expression() // sees the locals of the body
			})
		})
		return
	}
	p.expect("do")
	p.maybe(func() { p.within(body) })
	p.closed(open, "end")
}

func (p *parser) variables() {
	p.define(p.expect(name))
	if p.take("=") {
		p.expression()
		p.expect(",")
		p.expression()
		if p.take(",") {
			p.expression()
		}
		return
	}
	for p.take(",") {
		p.define(p.expect(name))
	}
	p.expect("in")
	p.expressions()
}

// declaration parses what follows the keyword of a function with a name.
func (p *parser) declaration(open token) {
	first := p.token
	p.expect(name)
	if !p.is(".") && !p.is(":") {
		p.define(first.text)
	} else {
		p.use(first, index)
	}
	for p.take(".") {
		p.expect(name)
	}
	if p.take(":") {
		p.expect(name)
	}
	p.parameters(open)
}

func (p *parser) local() {
	open := p.token
	if p.take("function") {
		p.inner.locals++
		p.define(p.expect(name))
		p.parameters(open)
		return
	}
	locals := 1
	for ; ; locals++ {
		p.define(p.expect(name))
		if p.is("<") {
			p.fail("LuaJIT does not have attributes such as <const>")
		}
		if !p.take(",") {
			break
		}
	}
	if p.take("=") {
		p.expressions()
	}
	p.inner.locals += locals
}

// assignment parses an assignment or a call.
func (p *parser) assignment() {
	first := p.token
	kind := p.suffixed()
	if kind == call {
		if p.is("=") || p.is(",") {
			p.fail("a call cannot be assigned to")
		}
		return
	}
	if !p.is("=") && !p.is(",") {
		p.expect("=")
	}
	for {
		switch kind {
		case variable:
			p.define(first.text)
		case index:
		default:
			p.failAt(first.at, "only a variable or a field can be assigned to")
		}
		if !p.take(",") {
			break
		}
		first = p.token
		kind = p.suffixed()
	}
	p.expect("=")
	p.expressions()
}
