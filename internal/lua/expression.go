package lua

// The kinds of expressions that a statement can begin with.
type form int

const (
	value form = iota
	variable
	index
	call
)

// priorities of binary operators: left and right.
var priorities = map[string][2]int{
	"or": {1, 1}, "and": {2, 2}, "<": {3, 3}, ">": {3, 3}, "<=": {3, 3}, ">=": {3, 3}, "~=": {3, 3}, "==": {3, 3}, "..": {5, 4},
	"+": {6, 6}, "-": {6, 6}, "*": {7, 7}, "/": {7, 7}, "%": {7, 7}, "^": {10, 9},
}

const unary = 8

func (p *parser) expressions() {
	p.expression()
	for p.take(",") {
		p.expression()
	}
}

func (p *parser) expression() { p.operation(0) }

func (p *parser) operation(limit int) {
	p.nested(func() {
		if p.take("not") || p.take("-") || p.take("#") {
			p.operation(unary)
		} else {
			p.simple()
		}
		for {
			operator := p.token.kind
			priority, ok := priorities[operator]
			if !ok || priority[0] <= limit {
				return
			}
			p.advance()
			if operator == "and" || operator == "or" {
				p.maybe(func() { p.operation(priority[1]) })
			} else {
				p.operation(priority[1])
			}
		}
	})
}

func (p *parser) simple() {
	switch open := p.token; open.kind {
	case number, text, "nil", "true", "false":
		p.advance()
	case "...":
		if !p.inner.variadic {
			p.fail("... is not in a function with ... as a parameter")
		}
		p.advance()
	case "{":
		p.table()
	case "function":
		p.advance()
		p.parameters(open)
	default:
		p.suffixed()
	}
}

// suffixed parses a variable or an expression in parentheses, with the fields and calls that follow.
func (p *parser) suffixed() (kind form) {
	first := p.token
	switch {
	case p.take("("):
		p.expression()
		p.closed(first, ")")
		first.text = ""
	case p.take(name):
		kind = variable
		p.opaque = p.opaque || reflective[first.text]
	default:
		p.unexpected()
	}
	for {
		next, as := index, index
		switch open := p.token; open.kind {
		case ".":
			p.advance()
			p.expect(name)
		case "[":
			p.advance()
			p.expression()
			p.closed(open, "]")
		case ":":
			p.advance()
			p.expect(name)
			p.arguments()
			next = call
		case "(", "{", text:
			p.arguments()
			next, as = call, call
		default:
			return kind
		}
		if kind == variable {
			p.use(first, as)
		}
		kind = next
	}
}

func (p *parser) arguments() {
	open := p.token
	switch {
	case p.take(text):
	case p.is("{"):
		p.table()
	case p.take("("):
		if !p.is(")") {
			p.expressions()
		}
		p.closed(open, ")")
	default:
		p.fail("the arguments of a call are missing%s", p.where())
	}
}

func (p *parser) table() {
	open := p.token
	p.advance()
	for !p.is("}") && !p.is(end) {
		switch key := p.token; {
		case p.take("["):
			p.expression()
			p.closed(key, "]")
			p.expect("=")
		case p.is(name) && p.peek() == "=":
			p.advance()
			p.advance()
		}
		p.expression()
		if !p.take(",") && !p.take(";") {
			break
		}
	}
	p.closed(open, "}")
}

// parameters parses the parameters and the body of a function.
func (p *parser) parameters(open token) {
	bracket := p.token
	p.expect("(")
	variadic := false
	for !p.is(")") && !variadic && !p.is(end) {
		if variadic = p.take("..."); !variadic {
			p.define(p.expect(name))
		}
		if !variadic && !p.is(")") {
			p.expect(",")
			if p.is(")") {
				p.unexpected()
			}
		}
	}
	if !p.take(")") {
		p.closed(bracket, ")")
	}
	p.maybe(func() { p.function(variadic, p.block) })
	p.closed(open, "end")
}
