package http

import (
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	luav3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/lua/v3"
	luaspecifierv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/router/cluster_specifiers/lua/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/read"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "lua-syntax",
	Severity: lint.Error,
	Summary:  "Lua code has a block, a bracket or a text that is not closed, or no function envoy_on_route where it chooses clusters",
	Links:    []string{"ThreadLocalState::ThreadLocalState (source/extensions/filters/common/lua/lua.cc)", "PerLuaCodeSetup::PerLuaCodeSetup (source/extensions/router/cluster_specifiers/lua/lua_cluster_specifier.cc)"},
	Run: read.Each(read.Of(func(p *lint.Pass, at lint.At, m *luav3.Lua) {
		checkLua(p, at.Field("inline_code"), m.GetInlineCode()) //nolint:staticcheck // deprecated, and in use
		checkLuaSource(p, at.Field("default_source_code"), m.GetDefaultSourceCode())
		for name, source := range m.GetSourceCodes() {
			checkLuaSource(p, at.Entry("source_codes", name), source)
		}
	}), read.Of(func(p *lint.Pass, at lint.At, m *luav3.LuaPerRoute) {
		if !m.GetDisabled() && m.GetName() == "" {
			checkLuaSource(p, at.Field("source_code"), m.GetSourceCode())
		}
	}), read.Of(func(p *lint.Pass, at lint.At, m *luaspecifierv3.LuaConfig) {
		checkLuaSource(p, at.Field("source_code"), m.GetSourceCode())
		if field, code, ok := inline(m.GetSourceCode()); ok && envoy.LuaError(code) == "" && !strings.Contains(code, "envoy_on_route") {
			p.Reject(at.Field("source_code", field), lint.Rejection{
				Message:  "the Lua code does not have a function envoy_on_route",
				Help:     "write function envoy_on_route(route_handle) … end, which returns the name of a cluster",
				Upstream: "envoy_on_route() function not found. Lua will not hook cluster specifier.",
			})
		}
	})),
})

func checkLuaSource(p *lint.Pass, at lint.At, source *corev3.DataSource) {
	if field, text, ok := inline(source); ok {
		checkLua(p, at.Field(field), text)
	}
}

func checkLua(p *lint.Pass, at lint.At, code string) {
	if wrong := envoy.LuaError(code); wrong != "" {
		p.Reject(at, lint.Rejection{
			Message:  "the Lua code is malformed: " + wrong,
			Help:     "run the code through luac -p, or LuaJIT, which Envoy uses",
			Upstream: "script load error",
		})
	}
}
