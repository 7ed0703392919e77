package bootstrap

import (
	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	metricsv3 "github.com/envoyproxy/go-control-plane/envoy/config/metrics/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/check"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "address-invalid",
	Severity: lint.Error,
	Summary:  "the address of the admin interface or of a stats sink is not usable by Envoy",
	Links: []string{
		"Network::Address::resolveProtoAddress (source/common/network/resolver_impl.cc)",
		"PipeInstance::create (source/common/network/address_impl.cc)",
	},
	Run: each(func(p *lint.Pass, at lint.At, b *bootstrapv3.Bootstrap) {
		checkAddress(p, at.Field("admin", "address"), b.GetAdmin().GetAddress(), "write an IP address, such as 127.0.0.1")
		for i, sink := range b.GetStatsSinks() {
			checkSink(p, at.Item("stats_sinks", i), sink)
		}
	}),
})

// checkAddress follows Network::Address::resolveProtoAddress.
func checkAddress(p *lint.Pass, at lint.At, a *corev3.Address, help string) {
	check.IP(p, at.Field("socket_address"), a.GetSocketAddress(), help)
	check.Pipe(p, at.Field("pipe"), a.GetPipe())
}

const graphite = "envoy.extensions.stat_sinks.graphite_statsd.v3.GraphiteStatsdSink"

func checkSink(p *lint.Pass, at lint.At, sink *metricsv3.StatsSink) {
	config, at := envoy.Content(at.Field("typed_config"), sink.GetTypedConfig())
	if config == nil {
		return
	}
	var address *corev3.Address
	switch s := config.(type) {
	case *metricsv3.StatsdSink:
		address = s.GetAddress()
	case *metricsv3.DogStatsdSink:
		address = s.GetAddress()
	default:
		if held, ok := field(config, "address"); ok && nameOf(config) == graphite {
			address, _ = held.Message().Interface().(*corev3.Address)
		}
	}
	if address.GetEnvoyInternalAddress() != nil {
		p.Reject(at.Field("address", "envoy_internal_address").Key(), lint.Rejection{
			Message:  "a stats sink cannot send to an internal listener",
			Help:     "write a socket_address or a pipe",
			Upstream: "panic: not implemented",
		})
		return
	}
	checkAddress(p, at.Field("address"), address, "write an IP address, or use tcp_cluster_name to reach a server by name")
}
