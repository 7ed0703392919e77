package listener

import (
	"fmt"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "udp-listener-filter",
	Severity: lint.Error,
	Summary:  "a QUIC listener has a listener filter for TCP, or a UDP listener gets one by discovery",
	Links:    []string{"ProdListenerComponentFactory::createQuicListenerFilterFactoryListImpl, createUdpListenerFilterFactoryListImpl (source/common/listener_manager/listener_manager_impl.cc)"},
	Run: each(func(p *lint.Pass, at lint.At, l *listenerv3.Listener) {
		if !overUDP(l) {
			return
		}
		for i, f := range l.GetListenerFilters() {
			own := at.Item("listener_filters", i)
			switch {
			case !quicOptions(l):
				if f.GetConfigDiscovery() != nil {
					p.Refuse(own.Field("config_discovery").Key(), "a UDP listener takes no listener filter from ECDS", "write it as typed_config",
						fmt.Sprintf("UDP listener filter: %s is configured with unsupported dynamic configuration", f.GetName()))
				}
			case f.GetTypedConfig() != nil:
				if name, _ := factoryType(at, f.GetTypedConfig()); known(p, name, "envoy.filters.listener") || known(p, name, "envoy.filters.udp_listener") {
					p.Refuse(own.Field("name"), fmt.Sprintf("%q is no listener filter for QUIC", f.GetName()), "leave it out",
						fmt.Sprintf("Didn't find a registered implementation for '%s' with type URL: '%s'", f.GetName(), name))
				}
			case f.GetConfigDiscovery() != nil:
				p.Refuse(own.Field("config_discovery").Key(), "envoy has no listener filter for QUIC that could come from ECDS", "leave it out",
					"no listener factory found for a required type URL")
			}
		}
	}),
})
