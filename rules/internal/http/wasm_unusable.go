package http

import (
	"bytes"
	"slices"

	httpwasmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/wasm/v3"
	networkwasmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/wasm/v3"
	wasmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/wasm/v3"

	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/read"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "wasm-unusable",
	Severity: lint.Error,
	Summary:  "a Wasm filter does not have code, has code that is not a module, or sets an environment variable twice",
	Links: []string{
		"PluginConfig::PluginConfig (source/extensions/common/wasm/wasm.cc)",
		"WasmConfig::WasmConfig (source/extensions/common/wasm/plugin.cc)",
	},
	Run: read.Each(read.Of(func(p *lint.Pass, at lint.At, m *httpwasmv3.Wasm) {
		checkWasm(p, at.Field("config"), m.GetConfig())
	}), read.Of(func(p *lint.Pass, at lint.At, m *networkwasmv3.Wasm) {
		checkWasm(p, at.Field("config"), m.GetConfig())
	})),
})

// v8 is the runtime of Wasm modules, also if none is named.
const v8 = "envoy.wasm.runtime.v8"

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
	const failed = "Unable to create Wasm plugin"
	switch {
	case vm.GetCode().GetLocal() == nil && vm.GetCode().GetRemote() == nil:
		p.Reject(at, lint.Rejection{
			Message:  "the filter does not have code",
			Help:     "add vm_config: {code: …}",
			Upstream: failed,
		})
	case inlined && (vm.GetRuntime() == "" || vm.GetRuntime() == v8) && !bytes.HasPrefix([]byte(code), []byte("\x00asm")):
		p.Reject(own.Field("code", "local", field), lint.Rejection{
			Message:  "the code is not a WebAssembly module",
			Help:     "write the module in base64 as inline_bytes, or name its file",
			Upstream: failed,
		})
	}
}
