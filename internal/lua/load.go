package lua

import "strconv"

// use is a global that is called or indexed when the code is loaded.
type use struct {
	name token
	as   form
}

// globals are those of LuaJIT, when Envoy loads code.
var globals = map[string]bool{
	"_G": true, "_VERSION": true, "assert": true, "bit": true, "collectgarbage": true, "coroutine": true, "debug": true, "dofile": true, "error": true,
	"gcinfo": true, "getfenv": true, "getmetatable": true, "io": true, "ipairs": true, "jit": true, "load": true, "loadfile": true,
	"loadstring": true, "math": true, "module": true, "newproxy": true, "next": true, "os": true, "package": true, "pairs": true, "pcall": true,
	"print": true, "rawequal": true, "rawget": true, "rawlen": true, "rawset": true, "require": true, "select": true, "setfenv": true,
	"setmetatable": true, "string": true, "table": true, "tonumber": true, "tostring": true, "type": true, "unpack": true, "xpcall": true,
}

// reflective globals can set others.
var reflective = map[string]bool{
	"_G": true, "debug": true, "dofile": true, "getfenv": true, "load": true, "loadfile": true, "loadstring": true, "module": true, "package": true,
	"require": true, "setfenv": true,
}

func (p *parser) define(name string) { p.defined[name] = true }

// use notes that a variable is called or indexed.
func (p *parser) use(name token, as form) {
	if p.unsure == 0 && !p.left {
		p.uses = append(p.uses, use{name, as})
	}
}

// runs finds what certainly fails when the code runs. Locals, and globals that the code sets somewhere, are not looked at.
func (p *parser) runs() {
	if p.opaque {
		return
	}
	for _, u := range p.uses {
		switch {
		case p.defined[u.name.text]:
			continue
		case u.name.text == "error" && u.as == call:
			p.failAt(u.name.at, "it calls error")
		case globals[u.name.text]:
			continue
		case u.as == call:
			p.failAt(u.name.at, "%s is not defined, and is called", quote(u.name.text))
		default:
			p.failAt(u.name.at, "%s is not defined, and a field of it is used", quote(u.name.text))
		}
		p.lexer.problem.Runs = true
		return
	}
}

func quote(s string) string { return strconv.Quote(s) }
