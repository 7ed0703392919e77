package envoy

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// luaTokens matches what decides about the blocks of Lua code: comments and texts, of which only the beginning is matched if they have no
// end, keywords, brackets, and the operators and attributes of Lua 5.3 and later, or of other languages, which LuaJIT does not have.
var luaTokens = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)--\[\[.*?\]\]|--\[=\[.*?\]=\]|--[^\n]*|\[\[.*?\]\]|\[=\[.*?\]=\]|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|["']|` +
		`~=|//|<<|>>|[&|~!?@$\x60\\]|local\s+[A-Za-z_][A-Za-z0-9_]*\s*<|[A-Za-z_][A-Za-z0-9_]*|[()\[\]{}]`)
})

// luaUnsure matches what luaTokens does not model: bytecode, a first line for a shell, longer brackets, and texts that go over several lines.
var luaUnsure = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\x1b#]|\[==|\\z`) })

// luaOpen maps what opens a block to what closes it. A loop opens its block with do.
var luaOpen = map[string]string{"function": "end", "if": "end", "do": "end", "repeat": "until", "(": ")", "[": "]", "{": "}"}

// luaForeign lists the operators that LuaJIT does not have.
var luaForeign = map[string]bool{
	"//": true, "<<": true, ">>": true, "&": true, "|": true, "~": true, "!": true, "?": true, "@": true, "$": true, "`": true, `\`: true,
}

var luaClose = map[string]bool{"end": true, "until": true, ")": true, "]": true, "}": true}

// LuaError returns what is certainly wrong with the syntax of Lua code: a text, a block or a bracket that is not closed, or one that is not open
// (PerLuaCodeSetup::PerLuaCodeSetup in source/extensions/filters/http/lua/lua_filter.cc compiles the code). It returns "" for everything else.
func LuaError(code string) string {
	if luaUnsure().MatchString(code) {
		return ""
	}
	var open []string
	for _, token := range luaTokens().FindAllString(code, -1) {
		switch {
		case token == `"` || token == "'":
			return "a text is not closed"
		case luaForeign[token]:
			return fmt.Sprintf("LuaJIT does not have %q", token)
		case strings.HasSuffix(token, "<"):
			return "LuaJIT does not have attributes such as <const>"
		case luaOpen[token] != "":
			open = append(open, token)
		case !luaClose[token]:
		case len(open) == 0:
			return fmt.Sprintf("%q does not close anything", token)
		case luaOpen[open[len(open)-1]] != token:
			return fmt.Sprintf("%q comes before the %q that closes %q", token, luaOpen[open[len(open)-1]], open[len(open)-1])
		default:
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		return fmt.Sprintf("%q is not closed", open[len(open)-1])
	}
	return ""
}
