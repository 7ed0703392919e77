package http

import (
	"fmt"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	luav3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/lua/v3"
	luaspecifierv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/router/cluster_specifiers/lua/v3"
	luamatcherv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/string_matcher/lua/v3"

	"github.com/xdslint/xdslint/internal/lua"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/read"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "lua-syntax",
	Severity: lint.Error,
	Summary:  "Lua code does not compile, fails when Envoy loads it, or lacks the function that Envoy calls",
	Links: []string{
		"ThreadLocalState::ThreadLocalState (source/extensions/filters/common/lua/lua.cc)",
		"PerLuaCodeSetup::PerLuaCodeSetup (source/extensions/router/cluster_specifiers/lua/lua_cluster_specifier.cc)",
		"LuaStringMatcher::LuaStringMatcher (source/extensions/string_matcher/lua/match.cc)",
	},
	Run: read.Each(read.Of(func(p *lint.Pass, at lint.At, m *luav3.Lua) {
		checkLua(p, at.Field("inline_code"), m.GetInlineCode(), loadError) //nolint:staticcheck // deprecated, and in use
		checkLuaSource(p, at.Field("default_source_code"), m.GetDefaultSourceCode(), loadError)
		for name, source := range m.GetSourceCodes() {
			checkLuaSource(p, at.Entry("source_codes", name), source, loadError)
		}
	}), read.Of(func(p *lint.Pass, at lint.At, m *luav3.LuaPerRoute) {
		if !m.GetDisabled() && m.GetName() == "" {
			checkLuaSource(p, at.Field("source_code"), m.GetSourceCode(), loadError)
		}
	}), read.Of(func(p *lint.Pass, at lint.At, m *luaspecifierv3.LuaConfig) {
		checkLuaSource(p, at.Field("source_code"), m.GetSourceCode(), loadError)
		needsFunction(p, at, m.GetSourceCode(), "envoy_on_route", "write function envoy_on_route(route_handle) … end, which returns the name of a cluster",
			"envoy_on_route() function not found. Lua will not hook cluster specifier.")
	}), read.Of(func(p *lint.Pass, at lint.At, m *luamatcherv3.Lua) {
		checkLuaSource(p, at.Field("source_code"), m.GetSourceCode(), "Failed to load lua code in Lua StringMatcher:")
		needsFunction(p, at, m.GetSourceCode(), "envoy_match", "write function envoy_match(text) … end, which returns true or false",
			"Lua code did not contain a global function named 'envoy_match'")
	})),
})

const loadError = "script load error"

// needsFunction reports code without a function that Envoy calls by its name.
func needsFunction(p *lint.Pass, at lint.At, source *corev3.DataSource, name, help, upstream string) {
	if field, code, ok := inline(source); ok && lua.Lacks(code, name) {
		p.Reject(at.Field("source_code", field), lint.Rejection{
			Message: "the Lua code does not have a function " + name, Help: help, Upstream: upstream,
		})
	}
}

func checkLuaSource(p *lint.Pass, at lint.At, source *corev3.DataSource, upstream string) {
	if field, text, ok := inline(source); ok {
		checkLua(p, at.Field(field), text, upstream)
	}
}

func checkLua(p *lint.Pass, at lint.At, code, upstream string) {
	problem, wrong := lua.Check(code)
	if !wrong {
		return
	}
	r := lint.Rejection{
		Message:  fmt.Sprintf("the Lua code is malformed in line %d: %s", problem.Line, problem.What),
		Help:     "run the code through LuaJIT, which Envoy uses",
		Upstream: upstream,
	}
	if problem.Runs {
		r.Message = fmt.Sprintf("the Lua code fails in line %d when Envoy loads it: %s", problem.Line, problem.What)
		r.Help = "move it into a function that Envoy calls, such as envoy_on_request"
	}
	p.Reject(at, r)
}
