package listener

import (
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "network-terminal-order",
	Severity: lint.Error,
	Summary:  "a terminal network filter is not the last of its chain, or the last filter is not terminal",
	Links: []string{
		"Utility::validateTerminalFilters (source/common/config/utility.cc)",
		"https://github.com/envoyproxy/envoy/issues/7767",
	},
	Run: each(func(p *lint.Pass, at lint.At, l *listenerv3.Listener) {
		if overUDP(l) && !quicOptions(l) {
			return
		}
		for _, c := range chains(at, l) {
			checkOrder(p, c)
		}
	}),
})

func checkOrder(p *lint.Pass, c chain) {
	last := len(c.GetFilters()) - 1
	misplaced := false
	for i, f := range c.GetFilters() {
		terminal, sure := terminalFilter(p, c.at, f)
		if !sure || terminal == (i == last) || misplaced && !terminal {
			continue // the misplaced terminal filter is the mistake, not the last filter
		}
		misplaced = terminal
		own := c.at.Item("filters", i)
		d := lint.Diagnostic{Notes: []string{envoy.OnReject(c.at.Resource())}, Rejected: true}
		if terminal {
			d.Message = fmt.Sprintf("%q is a terminal filter, but more filters follow it", f.GetName())
			d.Help = "move it to the end; a chain has only one terminal filter"
			d.Upstream = fmt.Sprintf("terminal filter named %s must be the last filter in a network filter chain", f.GetName())
			d.Related = []lint.Related{lint.RelatedTo(c.at.Item("filters", i+1).Field("name"), "connections never reach this one")}
			if other, _ := terminalFilter(p, c.at, c.GetFilters()[last]); !other {
				d.Fixes = lint.MoveToEnd(own).Likely("move it to the end")
			}
		} else {
			d.Message = fmt.Sprintf("%q is the last filter, but it is not terminal", f.GetName())
			d.Help = "end the chain with a terminal filter, such as envoy.filters.network.tcp_proxy"
			d.Upstream = fmt.Sprintf("non-terminal filter named %s is the last filter in a network filter chain", f.GetName())
		}
		p.Report(own.Field("name"), d)
	}
}

// terminals lists the network filters that end a chain with any configuration: their factories pass true to FactoryBase
// (is_terminal), or return it from isTerminalFilterByProtoTyped.
var terminals = map[protoreflect.FullName]bool{
	"envoy.extensions.filters.network.direct_response.v3.Config":                         true,
	"envoy.extensions.filters.network.dubbo_proxy.v3.DubboProxy":                         true,
	"envoy.extensions.filters.network.echo.v3.Echo":                                      true,
	"envoy.extensions.filters.network.generic_proxy.v3.GenericProxy":                     true,
	"envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager":  true,
	"envoy.extensions.filters.network.redis_proxy.v3.RedisProxy":                         true,
	"envoy.extensions.filters.network.reverse_tunnel.v3.DrainAwareHttpConnectionManager": true,
	"envoy.extensions.filters.network.reverse_tunnel.v3.ReverseTunnel":                   true,
	"envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy":                             true,
	"envoy.extensions.filters.network.thrift_proxy.v3.ThriftProxy":                       true,
}

// dynamicModule declares in its configuration whether it is terminal.
const dynamicModule protoreflect.FullName = "envoy.extensions.filters.network.dynamic_modules.v3.DynamicModuleNetworkFilter"

// terminalFilter reports whether a filter is terminal, and whether that is certain.
func terminalFilter(p *lint.Pass, at lint.At, f *listenerv3.Filter) (terminal, sure bool) {
	config := f.GetTypedConfig()
	if config == nil {
		config = f.GetConfigDiscovery().GetDefaultConfig()
	}
	if config == nil {
		return false, false
	}
	name, content := factoryType(at, config)
	switch {
	case !known(p, name, "envoy.filters.network"):
		return false, false
	case name == dynamicModule:
		return saysTerminal(content), content != nil
	}
	return terminals[name], true
}

func saysTerminal(m proto.Message) bool {
	if m == nil {
		return false
	}
	fd := m.ProtoReflect().Descriptor().Fields().ByName("terminal_filter")
	return fd != nil && m.ProtoReflect().Get(fd).Bool()
}
