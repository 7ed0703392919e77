// Package lua finds code that LuaJIT, as Envoy builds it, does not load: errors of syntax, and what certainly fails when the code runs for the
// first time.
package lua

import "strings"

// Problem is why a chunk of code does not load.
type Problem struct {
	Line int
	What string
	Runs bool // the code compiles, and fails when it runs
}

// Check returns the first problem of a chunk. It knows nothing about bytecode.
func Check(code string) (Problem, bool) {
	p, ok := parse(code)
	if !ok {
		return Problem{}, false
	}
	if p.lexer.problem.What == "" {
		p.runs()
	}
	return p.lexer.problem, p.lexer.problem.What != ""
}

// Lacks reports whether a chunk that loads certainly does not set a global.
func Lacks(code, global string) bool {
	p, ok := parse(code)
	return ok && p.lexer.problem.What == "" && !p.opaque && !p.defined[global]
}

// parse parses a chunk. It reports false for bytecode, and if the parser gave up.
func parse(code string) (parser, bool) {
	code, _, _ = strings.Cut(code, "\x00") // luaL_dostring reads a C string
	if strings.HasPrefix(code, "\x1bLJ") {
		return parser{}, false
	}
	p := parser{lexer: lexer{code: code}, defined: map[string]bool{}}
	if after, ok := strings.CutPrefix(code, "\xef\xbb\xbf"); ok {
		p.lexer.at = len(code) - len(after)
	}
	if strings.HasPrefix(code[p.lexer.at:], "#") { // a line for a shell
		p.lexer.at += prefix(code[p.lexer.at:], inLine)
	}
	p.advance()
	p.function(true, func() {
		p.block()
		if p.is(end) {
			return
		}
		if closes[p.token.kind] {
			p.fail("%q does not close anything", p.token.kind)
		}
		p.unexpected()
	})
	return p, !p.gaveUp
}
