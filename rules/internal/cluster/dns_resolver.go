package cluster

import (
	"fmt"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	dnsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/clusters/dns/v3"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/internal/dynamic"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/check"
	"github.com/xdslint/xdslint/rules/internal/each"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "dns-resolver",
	Severity: lint.Error,
	Summary:  "a DNS server of a cluster is not an IP address, or the interval for repeating failed lookups is invalid",
	Links: []string{
		"DnsResolverImpl (source/extensions/network/dns_resolver/cares/dns_impl.cc)",
		"Utility::prepareDnsRefreshStrategy (source/common/config/utility.h)",
	},
	Run: each.Cluster(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		switch envoy.ClusterFactory(p.Target.Extensions(), c) {
		case envoy.ClusterStrictDNS, envoy.ClusterLogicalDNS:
			checkResolver(p, at, c)
			checkFailures(p, at.Field("dns_failure_refresh_rate"), c.GetDnsFailureRefreshRate()) //nolint:staticcheck // deprecated, and in use
		case "envoy.clusters.redis":
			checkResolver(p, at, c)
		case envoy.ClusterDNS:
			m, at := envoy.ClusterConfig(at, c)
			if d, ok := m.(*dnsv3.DnsCluster); ok {
				checkTyped(p, at, d.GetTypedDnsResolverConfig())
				checkFailures(p, at.Field("dns_failure_refresh_rate"), d.GetDnsFailureRefreshRate())
			}
		}
	}),
})

// interval is a RefreshRate or a DnsFailureRefreshRate.
type interval interface {
	GetBaseInterval() *durationpb.Duration
	GetMaxInterval() *durationpb.Duration
}

func checkFailures(p *lint.Pass, at lint.At, rate interval) {
	if rate.GetBaseInterval() == nil || rate.GetMaxInterval() == nil {
		return
	}
	base, longest := rate.GetBaseInterval().AsDuration(), rate.GetMaxInterval().AsDuration()
	if longest.Milliseconds() >= base.Milliseconds() || longest <= 0 {
		return // an interval that is not positive violates a constraint
	}
	p.Reject(at.Field("max_interval"), lint.Rejection{
		Message:  fmt.Sprintf("max_interval %s is shorter than base_interval %s", longest, base),
		Help:     fmt.Sprintf("write a max_interval of at least %s, or remove it to use ten times the base_interval", base),
		Upstream: "dns_failure_refresh_rate must have max_interval greater than or equal to the base_interval",
		Related:  []lint.Related{lint.RelatedTo(at.Field("base_interval"), "the base_interval")},
	})
}

// checkResolver checks the newest field that is set of those that select DNS servers (ClusterFactoryImplBase::selectDnsResolver).
func checkResolver(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
	switch {
	case c.GetTypedDnsResolverConfig().GetTypedConfig().GetTypeUrl() != "":
		checkTyped(p, at, c.GetTypedDnsResolverConfig())
	case len(c.GetDnsResolutionConfig().GetResolvers()) > 0: //nolint:staticcheck // deprecated, and in use
		checkServers(p, at.Field("dns_resolution_config"), "resolvers", c.GetDnsResolutionConfig().GetResolvers()) //nolint:staticcheck // deprecated, and in use
	default:
		checkServers(p, at, "dns_resolvers", c.GetDnsResolvers()) //nolint:staticcheck // deprecated, and in use
	}
}

func checkTyped(p *lint.Pass, at lint.At, config *corev3.TypedExtensionConfig) {
	m, at := envoy.Content(at.Field("typed_dns_resolver_config", "typed_config"), config.GetTypedConfig())
	if dynamic.TypeName(m) != "envoy.extensions.network.dns_resolver.cares.v3.CaresDnsResolverConfig" {
		return
	}
	var servers []*corev3.Address
	for i, v := range dynamic.Items(m, "resolvers") {
		server, _ := v.Message().Interface().(*corev3.Address)
		servers = append(servers, server)
		if server.GetAddress() == nil {
			p.Reject(at.Item("resolvers", i), lint.Rejection{
				Message:  "the DNS server does not have an address",
				Help:     "write its IP address",
				Upstream: "Address must be set",
			})
		}
	}
	checkServers(p, at, "resolvers", servers)
}

func checkServers(p *lint.Pass, at lint.At, field string, servers []*corev3.Address) {
	const help = "write the IP address of the DNS server"
	for i, server := range servers {
		at := at.Item(field, i)
		switch {
		case server.GetSocketAddress() != nil:
			check.IP(p, at.Field("socket_address"), server.GetSocketAddress(), help)
		case server.GetPipe() != nil:
			p.Reject(at.Field("pipe"), lint.Rejection{
				Message:  "a DNS server cannot be a pipe",
				Help:     help,
				Upstream: fmt.Sprintf("DNS resolver '%s' is not an IP address", server.GetPipe().GetPath()),
			})
		case server.GetEnvoyInternalAddress() != nil:
			p.Reject(at.Field("envoy_internal_address"), lint.Rejection{
				Message:  "a DNS server cannot be an internal listener",
				Help:     help,
				Upstream: fmt.Sprintf("DNS resolver 'envoy://%s/' is not an IP address", server.GetEnvoyInternalAddress().GetServerListenerName()),
			})
		}
	}
}
