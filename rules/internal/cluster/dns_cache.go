package cluster

import (
	"fmt"

	dfpcommonv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/common/dynamic_forward_proxy/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "dns-cache",
	Severity: lint.Error,
	Summary:  "two configurations of one DNS cache differ, or its names or servers are not usable",
	Links:    []string{"DnsCacheManagerImpl::getCache (source/extensions/common/dynamic_forward_proxy/dns_cache_manager_impl.cc)"},
	Run: lint.Each(func(p *lint.Pass, at lint.At, config *dfpcommonv3.DnsCacheConfig) {
		if !envoy.OuterRead(p.Target.Extensions(), at.Place) {
			return
		}
		checkTyped(p, at, config.GetTypedDnsResolverConfig())
		if config.GetTypedDnsResolverConfig() == nil {
			checkServers(p, at.Field("dns_resolution_config"), "resolvers", config.GetDnsResolutionConfig().GetResolvers()) //nolint:staticcheck // deprecated, and in use
		}
		most := uint32(1024)
		if config.GetMaxHosts() != nil {
			most = config.GetMaxHosts().GetValue()
		}
		if names := len(config.GetPreresolveHostnames()); uint64(names) > uint64(most) {
			p.Reject(at.Field("preresolve_hostnames"), lint.Rejection{
				Message:  fmt.Sprintf("the cache resolves %d names in advance, but holds at most %d", names, most),
				Help:     "write a larger max_hosts, or remove some names",
				Upstream: fmt.Sprintf("DNS Cache [%s] configured with preresolve_hostnames=%d larger than max_hosts=%d", config.GetName(), names, most),
			})
		}
	}).And(lint.ForSnapshot(func(p *lint.Pass) {
		first := map[string]lint.At{}
		for _, place := range inOrder(p.Snapshot) {
			config, _ := graph.As[*dfpcommonv3.DnsCacheConfig](place)
			if !envoy.OuterRead(p.Target.Extensions(), place) {
				continue
			}
			at := place.At()
			before, again := first[config.GetName()]
			if !again {
				first[config.GetName()] = at
				continue
			}
			if envoy.Equivalent(before.Place, place) || p.Snapshot.Partial() && before.Resource().File != at.Resource().File {
				continue // separate files may be for different Envoys
			}
			p.Reject(at, lint.Rejection{
				Message:  fmt.Sprintf("the DNS cache %q has other settings elsewhere", config.GetName()),
				Help:     "write the same dns_cache_config in both places, or give this one another name",
				Upstream: fmt.Sprintf("config specified DNS cache '%s' with different settings", config.GetName()),
				Related:  []lint.Related{lint.RelatedTo(before, "the other settings")},
			})
		}
	})),
})

// inOrder returns the configurations of DNS caches in clusters and listeners, in the order in which Envoy creates those.
func inOrder(s graph.View) (all []*graph.Place) {
	for _, delivery := range []graph.Delivery{graph.FromBootstrap, graph.OverXDS} {
		for _, kind := range []graph.Kind{graph.Cluster, graph.Listener} {
			for _, place := range s.Places("envoy.extensions.common.dynamic_forward_proxy.v3.DnsCacheConfig") {
				if r := place.Resource; r.Kind == kind && r.Delivery == delivery && r.State == "" {
					all = append(all, place)
				}
			}
		}
	}
	return all
}
