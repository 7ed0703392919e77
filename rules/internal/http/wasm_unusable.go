package http

import (
	"slices"
	"strings"

	logwasmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/access_loggers/wasm/v3"
	httpwasmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/wasm/v3"
	networkwasmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/wasm/v3"
	sinkwasmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/stat_sinks/wasm/v3"
	wasmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/wasm/v3"

	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/read"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "wasm-unusable",
	Severity: lint.Error,
	Summary:  "a Wasm filter, log or sink does not have code, has code that Envoy cannot run, or sets a variable twice",
	Links: []string{
		"PluginConfig::PluginConfig (source/extensions/common/wasm/wasm.cc)",
		"WasmConfig::WasmConfig (source/extensions/common/wasm/plugin.cc)",
	},
	Run: read.Each(read.Of(func(p *lint.Pass, at lint.At, m *httpwasmv3.Wasm) {
		checkWasm(p, at.Field("config"), m.GetConfig())
	}), read.Of(func(p *lint.Pass, at lint.At, m *networkwasmv3.Wasm) {
		checkWasm(p, at.Field("config"), m.GetConfig())
	}), read.Of(func(p *lint.Pass, at lint.At, m *logwasmv3.WasmAccessLog) {
		checkWasm(p, at.Field("config"), m.GetConfig())
	}), read.Of(func(p *lint.Pass, at lint.At, m *sinkwasmv3.Wasm) {
		checkWasm(p, at.Field("config"), m.GetConfig())
	})),
})

// v8 is the runtime of Wasm modules, also if none is named.
const v8 = "envoy.wasm.runtime.v8"

// abi begins the name of a function that says which interface a module uses (WasmVm::getAbiVersion in proxy-wasm-cpp-host).
const abi = "proxy_abi_version_"

func checkWasm(p *lint.Pass, at lint.At, m *wasmv3.PluginConfig) {
	vm, own := m.GetVmConfig(), at.Field("vm_config")
	if m.GetFailOpen() && m.GetFailurePolicy() != wasmv3.FailurePolicy_UNSPECIFIED { //nolint:staticcheck // deprecated, and in use
		p.Reject(at.Field("fail_open").Key(), lint.Rejection{
			Message:  "fail_open cannot be combined with failure_policy",
			Help:     "keep failure_policy",
			Upstream: "only one of fail_open or failure_policy can be set",
		})
	}
	for i, name := range vm.GetEnvironmentVariables().GetHostEnvKeys() {
		if _, twice := vm.GetEnvironmentVariables().GetKeyValues()[name]; twice || slices.Contains(vm.GetEnvironmentVariables().GetHostEnvKeys()[:i], name) {
			p.Reject(own.Field("environment_variables").Item("host_env_keys", i), lint.Rejection{
				Message:  "the variable " + name + " is set twice",
				Help:     "keep it in host_env_keys, or in key_values",
				Upstream: "Key " + name + " is duplicated in envoy.extensions.wasm.v3.VmConfig.environment_variables",
			})
		}
	}
	field, code, inlined := inline(vm.GetCode().GetLocal())
	r := lint.Rejection{Upstream: "Unable to create Wasm plugin"}
	switch {
	case vm.GetCode().GetLocal() == nil && vm.GetCode().GetRemote() == nil:
		r.Message, r.Help = "there is no code", "add vm_config: {code: …}"
	case !inlined || vm.GetRuntime() != "" && vm.GetRuntime() != v8:
		return
	case !strings.HasPrefix(code, "\x00asm"):
		at = own.Field("code", "local", field)
		r.Message, r.Help = "the code is not a WebAssembly module", "write the module in base64 as inline_bytes, or name its file"
	case !strings.Contains(code, abi):
		at = own.Field("code", "local", field)
		r.Message, r.Help = "the WebAssembly module does not export "+abi+"…, so it is not made for proxies", "build it with an SDK for Proxy-Wasm"
	default:
		return
	}
	p.Reject(at, r)
}
