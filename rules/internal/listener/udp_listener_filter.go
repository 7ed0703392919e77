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
	Links: []string{
		"ProdListenerComponentFactory::createQuicListenerFilterFactoryListImpl, createUdpListenerFilterFactoryListImpl (source/common/listener_manager/listener_manager_impl.cc)",
	},
	Run: each(func(p *lint.Pass, at lint.At, l *listenerv3.Listener) {
		if !overUDP(l) {
			return
		}
		for i, f := range l.GetListenerFilters() {
			own := at.Item("listener_filters", i)
			switch {
			case !quicOptions(l):
				if f.GetConfigDiscovery() != nil {
					p.Reject(own.Field("config_discovery").Key(), lint.Rejection{
						Message:  "a UDP listener cannot get a listener filter from ECDS",
						Help:     "write typed_config instead of config_discovery",
						Upstream: fmt.Sprintf("UDP listener filter: %s is configured with unsupported dynamic configuration", f.GetName()),
					})
				}
			case f.GetTypedConfig() != nil:
				if name, _ := factoryType(at, f.GetTypedConfig()); known(p, name, "envoy.filters.listener") || known(p, name, "envoy.filters.udp_listener") {
					p.Reject(own.Field("name"), lint.Rejection{
						Message:  fmt.Sprintf("%q is not a listener filter for QUIC", f.GetName()),
						Help:     "remove it",
						Upstream: fmt.Sprintf("Didn't find a registered implementation for '%s' with type URL: '%s'", f.GetName(), name),
					})
				}
			case f.GetConfigDiscovery() != nil:
				p.Reject(own.Field("config_discovery").Key(), lint.Rejection{
					Message:  "a QUIC listener cannot get this listener filter from ECDS",
					Help:     "remove it",
					Upstream: "no listener factory found for a required type URL",
				})
			}
		}
	}),
})
