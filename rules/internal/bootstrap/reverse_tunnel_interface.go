package bootstrap

import (
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "reverse-tunnel-interface",
	Severity: lint.Error,
	Summary:  "a listener accepts reverse tunnels, but the bootstrap does not have the extension that stores them",
	Links:    []string{"ReverseTunnelFilterConfigFactory (source/extensions/filters/network/reverse_tunnel/config.cc)"},
	Run: lint.Each(func(p *lint.Pass, at lint.At, f *listenerv3.Filter) {
		if p.Target.Before("1.40") || at.Resource().State != "" || configured(at, f.GetTypedConfig()) != "envoy.extensions.filters.network.reverse_tunnel.v3.ReverseTunnel" ||
			!envoy.OuterRead(p.Target.Extensions(), at.Place) || !lacksInterface(p) {
			return
		}
		p.Reject(at.Field("typed_config"), lint.Rejection{
			Message:  "the bootstrap does not have a socket interface for reverse tunnels",
			Help:     "add envoy.bootstrap.reverse_tunnel.upstream_socket_interface to bootstrap_extensions",
			Upstream: "reverse_tunnel: the upstream reverse_tunnel socket interface bootstrap extension (UpstreamReverseConnectionSocketInterface) is not configured",
		})
	}),
})

const upstreamInterface = "envoy.extensions.bootstrap.reverse_tunnel.upstream_socket_interface.v3.UpstreamReverseConnectionSocketInterface"

// lacksInterface reports whether the bootstrap is known and does not have an extension that can be the interface.
func lacksInterface(p *lint.Pass) bool {
	b, r := p.Snapshot.Bootstrap()
	if b == nil {
		return false
	}
	at := r.At()
	for i, e := range b.GetBootstrapExtensions() {
		if configured(at.Item("bootstrap_extensions", i), e.GetTypedConfig()) == upstreamInterface {
			return false
		}
	}
	return true
}
