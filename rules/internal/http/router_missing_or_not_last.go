package http

import (
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "router-missing-or-not-last",
	Severity: lint.Error,
	Summary:  "the router is not the last HTTP filter, or the last one is not terminal",
	Links: []string{
		"Utility::validateTerminalFilters (source/common/config/utility.cc)",
		"https://github.com/envoyproxy/envoy/issues/7767",
	},
	Run: each(func(p *lint.Pass, at lint.At, m *hcmv3.HttpConnectionManager) {
		for _, list := range filterLists(at, m) {
			checkOrder(p, list)
		}
	}),
})

func checkOrder(p *lint.Pass, list filterList) {
	last := len(list.filters) - 1
	misplaced := false
	for i, f := range list.filters {
		terminal, sure := terminalFilter(p, list.at, f)
		if !sure || terminal == (i == last) || misplaced && !terminal {
			continue // if a terminal filter is misplaced, the last filter is not the mistake
		}
		misplaced = terminal
		d := lint.Diagnostic{Notes: []string{envoy.OnReject(list.at.Resource())}, Rejected: true}
		if terminal {
			d.Message = fmt.Sprintf("%q is terminal, but more filters come after it", f.GetName())
			d.Help = "move it to the end; a chain has only one terminal filter"
			d.Upstream = fmt.Sprintf("terminal filter named %s must be the last filter in a %s filter chain", f.GetName(), list.kind)
			d.Related = []lint.Related{lint.RelatedTo(list.item(i+1).Field("name"), "this one would never run")}
			if other, _ := terminalFilter(p, list.at, list.filters[last]); !other {
				d.Fixes = lint.MoveToEnd(list.item(i)).Likely("move it to the end")
			}
		} else {
			d.Message = fmt.Sprintf("%q is the last filter, but it is not terminal", f.GetName())
			d.Help = "end the chain with envoy.filters.http.router"
			d.Upstream = fmt.Sprintf("non-terminal filter named %s is the last filter in a %s filter chain", f.GetName(), list.kind)
		}
		p.Report(list.item(i).Field("name"), d)
	}
}

const (
	router    protoreflect.FullName = "envoy.extensions.filters.http.router.v3.Router"
	mcpRouter protoreflect.FullName = "envoy.extensions.filters.http.mcp_router.v3.McpRouter"
	// filterChain holds other filters, which can be terminal.
	filterChain protoreflect.FullName = "envoy.extensions.filters.http.filter_chain.v3.FilterChainConfig"
	// dynamicModule has a field that says whether it is terminal.
	dynamicModule protoreflect.FullName = "envoy.extensions.filters.http.dynamic_modules.v3.DynamicModuleFilter"
)

// terminalFilter reports whether a filter is terminal, and whether that is certain.
func terminalFilter(p *lint.Pass, at lint.At, f *hcmv3.HttpFilter) (terminal, sure bool) {
	config := f.GetTypedConfig()
	if config == nil {
		config = f.GetConfigDiscovery().GetDefaultConfig()
	}
	name, content := factoryType(at, config)
	switch name {
	case router, mcpRouter:
		return true, true
	case dynamicModule:
		return saysTerminal(content), content != nil
	case filterChain:
		return false, false
	}
	for _, e := range p.Target.Extensions().ByTypeURL(string(name)) {
		if e.Category == "envoy.filters.http" {
			return false, true
		}
	}
	return false, false
}

func saysTerminal(m proto.Message) bool {
	if m == nil {
		return false
	}
	fd := m.ProtoReflect().Descriptor().Fields().ByName("terminal_filter")
	return fd != nil && m.ProtoReflect().Get(fd).Bool()
}
