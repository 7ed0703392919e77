package cel

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

type kind uint8

const (
	end kind = iota
	name
	number
	text
	operator
)

type token struct {
	kind kind
	text string
}

const escape = `\\(?:[abfnrtv"'\\?` + "`" + `]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7][0-7])`

type pattern struct {
	kind kind
	*regexp.Regexp
}

// patterns are the tokens of CEL.g4, the longest of a kind first.
var patterns = sync.OnceValue(func() []pattern {
	return []pattern{
		{text, regexp.MustCompile(`^[bB]?[rR](?:(?s:""".*?"""|'''.*?''')|"[^"\n\r]*"|'[^'\n\r]*')`)},
		{text, regexp.MustCompile(`^[bB]?(?:"""(?:` + escape + `|[^\\])*?"""|'''(?:` + escape + `|[^\\])*?''')`)},
		{text, regexp.MustCompile(`^[bB]?(?:"(?:` + escape + `|[^\\\n\r"])*"|'(?:` + escape + `|[^\\\n\r'])*')`)},
		{number, regexp.MustCompile(`^(?:[0-9]*\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|0x[0-9a-fA-F]+[uU]?|[0-9]+[uU]?)`)},
		{name, regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*`)},
		{operator, regexp.MustCompile(`^(?:==|!=|<=|>=|&&|\|\||[-<>\[\]{}().,!?:+*/%])`)},
	}
})

var blank = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:[\t \r\n\f]|//[^\n]*)+`) })

// split returns the tokens of an expression.
func split(expression string) ([]token, error) {
	if strings.Contains(expression, "`") {
		return nil, errUnsure // a quoted name
	}
	var tokens []token
	for rest := expression; rest != ""; {
		if skip := blank().FindString(rest); skip != "" {
			rest = rest[len(skip):]
			continue
		}
		t := next(rest)
		if t.kind == end {
			return nil, fmt.Errorf("token recognition error at: '%s'", rest[:1])
		}
		tokens, rest = append(tokens, t), rest[len(t.text):]
	}
	return tokens, nil
}

func next(rest string) token {
	for _, p := range patterns() {
		if found := p.FindString(rest); found != "" {
			return token{p.kind, found}
		}
	}
	return token{}
}
