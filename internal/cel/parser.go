package cel

import "errors"

// shape is what the parser keeps of an expression.
type shape struct {
	selects bool   // it ends with .NAME
	names   string // it is only names: "a.b"
}

// parser follows CEL.g4, one method for each of its rules.
type parser struct {
	tokens []token
	calls  []call
	depth  int
}

const maxDepth = 24 // Envoy allows 32, counted differently

// parse returns the calls in an expression.
func parse(expression string) ([]call, error) {
	tokens, err := split(expression)
	if err != nil {
		return nil, err
	}
	p := &parser{tokens: tokens}
	if _, err = p.expression(); err != nil {
		return nil, err
	}
	if t := p.peek(); t.kind != end {
		return nil, errorAt(t)
	}
	return p.calls, nil
}

func (p *parser) peek() token {
	if len(p.tokens) == 0 {
		return token{}
	}
	return p.tokens[0]
}

func (p *parser) take() token {
	t := p.peek()
	if t.kind != end {
		p.tokens = p.tokens[1:]
	}
	return t
}

// accept takes one of some operators, or the word in.
func (p *parser) accept(operators ...string) bool {
	t := p.peek()
	if t.kind != operator && t.text != "in" {
		return false
	}
	for _, o := range operators {
		if t.text == o {
			p.take()
			return true
		}
	}
	return false
}

func (p *parser) expect(o string) error {
	if !p.accept(o) {
		return errorAt(p.peek())
	}
	return nil
}

func (p *parser) expression() (shape, error) {
	if p.depth++; p.depth > maxDepth {
		return shape{}, errUnsure
	}
	defer func() { p.depth-- }()
	s, err := p.binary(0)
	if err != nil || !p.accept("?") {
		return s, err
	}
	if _, err = p.binary(0); err != nil {
		return shape{}, err
	}
	if err = p.expect(":"); err != nil {
		return shape{}, err
	}
	_, err = p.expression()
	return shape{}, err
}

// levels are the binary operators, those that bind least first.
var levels = [][]string{{"||"}, {"&&"}, {"<", "<=", ">=", ">", "==", "!=", "in"}, {"+", "-"}, {"*", "/", "%"}}

func (p *parser) binary(level int) (shape, error) {
	if level == len(levels) {
		return p.unary()
	}
	s, err := p.binary(level + 1)
	for err == nil && p.accept(levels[level]...) {
		s = shape{}
		_, err = p.binary(level + 1)
	}
	return s, err
}

func (p *parser) unary() (shape, error) {
	for _, o := range []string{"!", "-"} {
		if !p.accept(o) {
			continue
		}
		for p.accept(o) {
		}
		if p.peek().text == "-" {
			return shape{}, errUnsure // !-1 is valid, !-a is not
		}
		_, err := p.member()
		return shape{}, err
	}
	return p.member()
}

func (p *parser) member() (shape, error) {
	s, err := p.primary()
	for err == nil {
		switch {
		case p.accept("."):
			s, err = p.selection(s)
		case p.accept("["):
			s = shape{}
			if _, err = p.expression(); err == nil {
				err = p.expect("]")
			}
		case p.peek().text == "{" && p.peek().kind == operator:
			return shape{}, p.message(s)
		default:
			return s, nil
		}
	}
	return shape{}, err
}

// selection parses what follows a dot: a field, or a method.
func (p *parser) selection(s shape) (shape, error) {
	t := p.take()
	if t.kind != name || words[t.text] {
		return shape{}, errorAt(t)
	}
	c := call{name: t.text, receiver: true}
	if s.names != "" {
		c.qualified = s.names + "." + t.text
	}
	if !p.accept("(") {
		return shape{selects: true, names: c.qualified}, nil
	}
	_, err := p.arguments(c)
	return shape{}, err
}

// words are the names that are tokens of their own.
var words = map[string]bool{"in": true, "true": true, "false": true, "null": true}

// reserved are the names that Envoy does not take as variables.
var reserved = map[string]bool{
	"as": true, "break": true, "const": true, "continue": true, "else": true, "for": true, "function": true, "if": true, "import": true, "let": true,
	"loop": true, "package": true, "namespace": true, "return": true, "var": true, "void": true, "while": true,
}

func (p *parser) primary() (shape, error) {
	t := p.take()
	switch {
	case t.kind == number, t.kind == text:
		return shape{}, nil
	case t.kind == name:
		return p.named(t)
	case t.kind != operator:
		return shape{}, errorAt(t)
	}
	switch t.text {
	case ".":
		if t = p.take(); t.kind != name || words[t.text] {
			return shape{}, errorAt(t)
		}
		return p.named(t)
	case "(":
		s, err := p.expression()
		if err != nil {
			return shape{}, err
		}
		return s, p.expect(")")
	case "[":
		return shape{}, p.list("]", p.item)
	case "{":
		return shape{}, p.list("}", p.entry)
	}
	return shape{}, errorAt(t)
}

func (p *parser) named(t token) (shape, error) {
	switch {
	case t.text == "in":
		return shape{}, errorAt(t)
	case words[t.text]:
		return shape{}, nil
	case !p.accept("("):
		if reserved[t.text] {
			return shape{}, errors.New("reserved identifier: " + t.text)
		}
		return shape{names: t.text}, nil
	case t.text != "has":
		_, err := p.arguments(call{name: t.text})
		return shape{}, err
	}
	s, err := p.arguments(call{name: t.text})
	if err != nil {
		return shape{}, err
	}
	if c := &p.calls[len(p.calls)-1]; c.arguments == 1 {
		p.calls = p.calls[:len(p.calls)-1] // a macro
		if !s.selects {
			err = errors.New("has() argument must be a field selection")
		}
	}
	return shape{}, err
}

// arguments parses the arguments of a call, and returns the shape of the last one.
func (p *parser) arguments(c call) (last shape, err error) {
	for !p.accept(")") {
		if c.arguments > 0 {
			if err = p.expect(","); err != nil {
				return shape{}, err
			}
		}
		if last, err = p.expression(); err != nil {
			return shape{}, err
		}
		c.arguments++
	}
	p.calls = append(p.calls, c)
	return last, nil
}

// list parses items up to a closing bracket. The last one may have a comma behind it.
func (p *parser) list(closing string, item func() error) error {
	if p.accept(",") {
		return p.expect(closing)
	}
	for !p.accept(closing) {
		if err := item(); err != nil {
			return err
		}
		if !p.accept(",") {
			return p.expect(closing)
		}
	}
	return nil
}

func (p *parser) item() error {
	_, err := p.expression()
	return err
}

func (p *parser) entry() error {
	if err := p.item(); err != nil {
		return err
	}
	if err := p.expect(":"); err != nil {
		return err
	}
	return p.item()
}

// message parses the fields of a message. Which types there are is not modelled.
func (p *parser) message(s shape) error {
	if s.names == "" {
		return errors.New("extraneous input '{'")
	}
	return errUnsure
}
