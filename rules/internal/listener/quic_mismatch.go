package listener

import (
	"fmt"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

const (
	quicTransport = "envoy.extensions.transport_sockets.quic.v3.QuicDownstreamTransport"
	managerName   = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "quic-mismatch",
	Severity: lint.Error,
	Summary:  "a QUIC listener that does not speak HTTP/3, or HTTP/3 on a listener without QUIC",
	Links: []string{
		"ListenerFilterChainFactoryBuilder::buildFilterChainInternal (source/common/listener_manager/listener_manager_impl.cc)",
		"ListenerImpl::buildUdpListenerFactory, validateFilterChains (source/common/listener_manager/listener_impl.cc)",
	},
	Run: each(func(p *lint.Pass, at lint.At, l *listenerv3.Listener) {
		if overUDP(l) && !quicOptions(l) {
			return // a UDP listener without QUIC has no filter chains
		}
		if overQUIC(l) && l.GetConnectionBalanceConfig() != nil {
			p.Report(at.Field("connection_balance_config").Key(), lint.Diagnostic{
				Message:  "a QUIC listener cannot have connection_balance_config",
				Notes:    []string{envoy.OnReject(at.Resource())},
				Help:     "remove it",
				Rejected: true,
				Upstream: "connection_balance_config is configured for QUIC listener which doesn't work with connection balancer",
			})
		}
		for _, c := range chains(at, l) {
			if overQUIC(l) {
				checkTransport(p, c)
				checkLast(p, c)
			}
			checkCodec(p, c, quicOptions(l))
		}
	}),
})

func checkTransport(p *lint.Pass, c chain) {
	d := lint.Diagnostic{
		Notes:    []string{envoy.OnReject(c.at.Resource())},
		Help:     "use envoy.transport_sockets.quic with a QuicDownstreamTransport",
		Rejected: true, Upstream: "no transport socket specified for connection oriented UDP listener",
	}
	if c.GetTransportSocket() == nil {
		d.Message = "a filter chain of a QUIC listener needs a transport socket"
		p.Report(c.at, d)
		return
	}
	name, _ := factoryType(c.at, c.GetTransportSocket().GetTypedConfig())
	if name == "" || name == quicTransport {
		return
	}
	d.Message = fmt.Sprintf("the transport socket of a QUIC listener is a %s", name.Name())
	d.Upstream = "wrong transport socket config specified for quic transport socket"
	p.Report(c.at.Field("transport_socket"), d)
}

func checkLast(p *lint.Pass, c chain) {
	last := len(c.GetFilters()) - 1
	at := c.at
	if last >= 0 {
		if c.GetFilters()[last].GetTypedConfig().GetTypeUrl() == typeURLPrefix+managerName {
			return
		}
		at = at.Item("filters", last).Field("name")
	}
	p.Report(at, lint.Diagnostic{
		Message:  "the last filter of a QUIC listener's chain is not an HTTP connection manager",
		Notes:    []string{envoy.OnReject(at.Resource()) + "; it does not accept a TypedStruct or config_discovery there"},
		Help:     "end the chain with envoy.filters.network.http_connection_manager and codec_type: HTTP3",
		Rejected: true,
		Upstream: "error building network filter chain for quic listener: requires http_connection_manager filter to be last in the chain",
	})
}

func checkCodec(p *lint.Pass, c chain, quic bool) {
	for i, f := range c.GetFilters() {
		config, place := f.GetTypedConfig(), c.at.Item("filters", i).Field("typed_config")
		if config == nil {
			config, place = f.GetConfigDiscovery().GetDefaultConfig(), c.at.Item("filters", i).Field("config_discovery", "default_config")
		}
		if config == nil {
			continue
		}
		name, content := factoryType(c.at, config)
		m, ok := content.(*hcmv3.HttpConnectionManager)
		if name != managerName || !ok || (m.GetCodecType() == hcmv3.HttpConnectionManager_HTTP3) == quic {
			continue
		}
		d := lint.Diagnostic{
			Message:  "codec_type is HTTP3, but the listener does not speak QUIC",
			Notes:    []string{envoy.OnReject(c.at.Resource())},
			Help:     "serve HTTP/3 from a UDP listener with udp_listener_config.quic_options",
			Rejected: true, Upstream: "HTTP/3 codec configured on non-QUIC listener",
		}
		if quic {
			d.Message = "the codec_type of a QUIC listener is not HTTP3"
			d.Help = "add codec_type: HTTP3"
			d.Upstream = "Non-HTTP/3 codec configured on QUIC listener"
		}
		p.Report(place.Field("codec_type"), d)
	}
}
