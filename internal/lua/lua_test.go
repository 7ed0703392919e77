package lua_test

import (
	"strings"
	"testing"

	"github.com/xdslint/xdslint/internal/lua"
)

func TestValid(t *testing.T) {
	for _, code := range []string{
		"", "x = 1", "function envoy_on_request(h) h:logInfo('a') end", "for i = 1, 2 do print(i) end", "while true do break end",
		"repeat x = 1 until x", "if a then b() elseif c then d() else e() end", `x = "end ) \" ]"`, "x = 'it\\'s'", "-- end )\nx = 1", "--[[ ( \n end ]] x = 1",
		"x = [[ function ( ]]", "t = {} x = t[ [[key]] ]", "t = {} x = t[t[1]]", "x = {[1] = function() return {} end}", "do local x end", "goto done ::done::",
		"x = [=[ ]] ]=]", "local s = \"a\\\nb\"", "local s = \"a\\\r\nb\"", "x = 'a\\z\n  b'", "--[==[ ( ]==]\nx = 1", "\xef\xbb\xbfx = 1", "#!lua\nx = 1", "\x1bLJ ((",
		";", "x = 1;; y = 2", "while x do break x = 1 end", "function f(...) return ... end return ...", "x = 0b101 y = 1LL z = 3i w = 0x1p4 v = 0xA.8p1",
		"x = 1.e5 y = .5 z = 5. w = 3.e-2", `x = "\x41\u{48}\065"`, "é = 1", "return;", "x = {1,2;3,}", `x = #"a" .. -1 ^ 2`, "x = a ~= b",
		"y = print 'a' z = print {1}", "x, y.z, w[1] = 1 y = {} w = {}", "x = {f = function() end, [1] = 2, 'a'; b = 3}", "x = ('a'):rep(3)", "x = not not a",
		"x = 2 ^ -3 - -2", "local function f(a, b, ...) end", "function t.a.b:c() end t = {}", "repeat local z = 1 until z", "f = print (f or print)()",
		"x = a and a.b", "x = a or error('a')", "if a then a.b() end", "do return end nope()", "goto done nope() ::done::", "setfenv(1, {nope = print}) nope()",
		"local g = _G g.nope = print nope()", "function x() nope() error('a') end", "string.format('a')", "local error = print error('a')",
		"if not ngx then return end ngx.log('a')", "if not mylib then goto skip end mylib.init() ::skip::", "do if true then return end end error('x')",
		"for i = 1, 2 do if i == 2 then goto done end end error('a') ::done::", "repeat if true then return end until true nope()", "x = 'a\\\n\rb'",
		"#!lua\rx = 1", "x = 01777777777777777777LL y = 1LLU y = 0xffffffffffffffffLL z = 2.5e1i w = 0b1LL", `x = "\255\0651\u{10ffff}"`, "goto a do ::b:: end ::a:: ::b::",
		"do goto a local z ::a:: ; end", "repeat goto a local z until z ::a::", "for i = 1, 2 do goto a local z ::a:: end", "::a:: local z if z then goto a end",
		"goto a for i = 1, 2 do local z end ::a:: x = 1", "do ::a:: end do ::a:: end ::a::", "function f(a) goto b do local c end ::b:: x = 1 end",
		strings.Repeat("(", 100_000), "\x00\x01 (", "x = 1\x00(", strings.Repeat("goto a x = 1 ", 10_000),
	} {
		if problem, found := lua.Check(code); found {
			t.Errorf("%.100q is valid, but %+v", code, problem)
		}
	}
}

func TestInvalid(t *testing.T) {
	for _, test := range []struct{ code, want string }{
		{"function x()\n", `"function" is not closed`},
		{"end", `"end" does not close anything`},
		{"x = (1", `"(" is not closed`},
		{"x = {1", `"{" is not closed`},
		{"repeat x = 1 end", `"end" comes before the "until" that closes "repeat"`},
		{"x = (a]", `"]" comes before the ")" that closes "("`},
		{"x = 'a", "a text is not closed"},
		{"x = 'a\nb'", "a text is not closed"},
		{"--[[ a", "a comment is not closed"},
		{"x = [[ a", "a text is not closed"},
		{"x = [=a", `"[=" does not begin a text`},
		{`x = "\q"`, "a text has an escape sequence that Lua does not have"},
		{"x = 3x", `"3x" is not a number`},
		{"x = 1..2", `"1..2" is not a number`},
		{"x = 0x", `"0x" is not a number`},
		{"x = 1 // 2", `LuaJIT does not have "//"`},
		{"x = y != z", `LuaJIT does not have "!="`},
		{"local x <const> = 1", "LuaJIT does not have attributes such as <const>"},
		{"x += 1", `"=" is missing before "+"`},
		{"this is not lua", `"=" is missing before "is"`},
		{"if x y() end", `"then" is missing before "y"`},
		{"for i = 1 do end", `"," is missing before "do"`},
		{"for i = 1, 2, 3, 4 do end", `"do" is missing before ","`},
		{"x = not", "something is missing at the end"},
		{"x = {,}", `"," is not expected here`},
		{"x = {a=1 b=2}", `"b" comes before the "}" that closes "{"`},
		{"f(a,)", `")" is not expected here`},
		{"function f(a,) end", `")" is not expected here`},
		{"local = 1", `a name is missing before "="`},
		{"a.b:c = 1", `the arguments of a call are missing before "="`},
		{"f() = 1", "a call cannot be assigned to"},
		{"(f) = 1", "only a variable or a field can be assigned to"},
		{"return 1 x = 2", `"x" comes after return, which must be the last in its block`},
		{"break", "break is not in a loop"},
		{"while x do function f() break end end", "break is not in a loop"},
		{"goto a", `there is no label "a"`},
		{"function f() goto a end ::a::", `there is no label "a"`},
		{"goto a do ::a:: end", `there is no label "a"`},
		{"goto a local z ::a:: x = 1", `goto "a" jumps into the scope of a local`},
		{"goto a local function z() end ::a:: x = 1", `goto "a" jumps into the scope of a local`},
		{"repeat goto a local z ::a:: until z", `goto "a" jumps into the scope of a local`},
		{"::a:: ::a::", `there are two labels "a"`},
		{"x = 1e5LL", `"1e5LL" is not a number`},
		{"x = 99999999999999999999LL", `"99999999999999999999LL" has more than 64 bits`},
		{"x = 0b" + strings.Repeat("1", 65), `"0b` + strings.Repeat("1", 65) + `" has more than 64 bits`},
		{`x = "\300"`, "a text has an escape sequence that Lua does not have"},
		{`x = "\u{110000}"`, "a text has an escape sequence that Lua does not have"},
		{`x = "\u{d800}"`, "a text has an escape sequence that Lua does not have"},
		{"\x1b(", "there is a character that does not belong into code"},
		{"function f() return ... end", "... is not in a function with ... as a parameter"},
		{"x = \x01", "there is a character that does not belong into code"},
	} {
		if problem, _ := lua.Check(test.code); problem.What != test.want || problem.Runs || problem.Line != 1 {
			t.Errorf("%q: %+v, want %s", test.code, problem, test.want)
		}
	}
}

func TestLacks(t *testing.T) {
	for code, want := range map[string]bool{
		"":                                     true,
		"-- envoy_match is missing":            true,
		"x = 'envoy_match'":                    true,
		"local function f() end f()":           true,
		"function envoy_match() end":           false,
		"if a then envoy_match = f end":        false,
		"function f() envoy_match = f end":     false,
		`_G["envoy_" .. "match"] = print`:      false,
		"load('function envoy_match() end')()": false,
		"function envoy_match(":                false,
		"\x1bLJ":                               false,
	} {
		if lua.Lacks(code, "envoy_match") != want {
			t.Errorf("%q: want %t", code, want)
		}
	}
}

func TestFails(t *testing.T) {
	for _, test := range []struct{ code, want string }{
		{"\nnope()", `"nope" is not defined, and is called`},
		{"\nx = nope.y", `"nope" is not defined, and a field of it is used`},
		{"\nnope:log('a')", `"nope" is not defined, and a field of it is used`},
		{"\nnope.y = 1", `"nope" is not defined, and a field of it is used`},
		{"\nfunction nope.f() end", `"nope" is not defined, and a field of it is used`},
		{"\nprint(nope[1])", `"nope" is not defined, and a field of it is used`},
		{"\nif nope() then x = 1 end", `"nope" is not defined, and is called`},
		{"\ndo error('a') end", "it calls error"},
		{"\nreturn nope()", `"nope" is not defined, and is called`},
		{"\nx = nope() or 1", `"nope" is not defined, and is called`},
	} {
		if problem, _ := lua.Check(test.code); problem.What != test.want || !problem.Runs || problem.Line != 2 {
			t.Errorf("%q: %+v, want %s", test.code, problem, test.want)
		}
	}
}
