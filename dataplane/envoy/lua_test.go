package envoy

import "testing"

func TestLuaError(t *testing.T) {
	for _, code := range []string{
		"", "x = 1", "function envoy_on_request(h) h:logInfo('a') end", "for i = 1, 2 do print(i) end", "while true do break end",
		"repeat x = 1 until x", "if a then b() elseif c then d() else e() end", `x = "end ) \" ]"`, "x = 'it\\'s'", "-- end )\nx = 1", "--[[ ( \n end ]] x = 1",
		"x = [[ function ( ]]", "x = t[ [[key]] ]", "x = t[t[1]]", "x = {[1] = function() return {} end}", "do local x end", "goto done ::done::", "x = [=[ ]] ]=]",
		"local s = \"a\\\nb\"", "x = 'a\\z\n  b'", "--[==[ ( ]==]\nx = 1",
	} {
		if wrong := LuaError(code); wrong != "" {
			t.Errorf("%q is valid, but %s", code, wrong)
		}
	}
	for _, code := range []string{"function x(", "function x() ", "end", "if a then", "x = (1", "x = {1", "x = 'a", "repeat x = 1", "x = )", "for i = 1, 2 do (end)"} {
		if LuaError(code) == "" {
			t.Errorf("%q is not valid", code)
		}
	}
}
