package cluster

import (
	"fmt"
	"slices"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/check"
	"github.com/xdslint/xdslint/rules/internal/each"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "source-addresses",
	Severity: lint.Error,
	Summary:  "a cluster has source addresses that Envoy cannot bind connections to",
	Links: []string{
		"createUpstreamLocalAddressSelector (source/common/upstream/upstream_impl.cc)",
		"DefaultUpstreamLocalAddressSelectorFactory (source/common/upstream/default_local_address_selector_factory.cc)",
	},
	Run: each.Cluster(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		checkBinding(p, at.Field("upstream_bind_config"), c.GetUpstreamBindConfig(), "Cluster "+c.GetName())
	}).And(lint.ForSnapshot(func(p *lint.Pass) {
		b, r := p.Snapshot.Bootstrap()
		if b != nil && slices.ContainsFunc(p.Snapshot.All(graph.Cluster), bindsByDefault) {
			checkBinding(p, r.At().Field("cluster_manager", "upstream_bind_config"), b.GetClusterManager().GetUpstreamBindConfig(), "Bootstrap")
		}
	})),
})

// bindsByDefault reports whether a cluster of the bootstrap has the binding that the bootstrap has for all.
func bindsByDefault(r *graph.Resource) bool {
	c, ok := r.Message.(*clusterv3.Cluster)
	return ok && r.Delivery == graph.FromBootstrap && c.GetUpstreamBindConfig() == nil
}

func checkBinding(p *lint.Pass, at lint.At, b *corev3.BindConfig, owner string) {
	extra, additional := len(b.GetExtraSourceAddresses()), len(b.GetAdditionalSourceAddresses())
	more := "extra_source_addresses"
	if additional > 0 {
		more = "additional_source_addresses"
	}
	switch {
	case extra > 0 && additional > 0:
		p.Reject(at.Field(more).Key(), lint.Rejection{
			Message: "extra_source_addresses cannot be combined with additional_source_addresses",
			Help:    "keep extra_source_addresses; the other field is deprecated",
			Upstream: fmt.Sprintf("Can't specify both `extra_source_addresses` and `additional_source_addresses` in the %s's upstream binding config",
				owner),
		})
		return
	case extra+additional > 0 && b.GetSourceAddress() == nil:
		p.Reject(at.Field(more).Key(), lint.Rejection{
			Message:  more + " needs a source_address",
			Help:     "move the first address to source_address",
			Upstream: owner + "'s upstream binding config has extra/additional source addresses but no source_address. Extra/additional addresses cannot be specified if source_address is not set.",
		})
		return
	}
	const help = "write an IP address of this machine"
	first, known := check.IP(p, at.Field("source_address"), b.GetSourceAddress(), help)
	for i, a := range b.GetExtraSourceAddresses() {
		second, ok := check.IP(p, at.Item(more, i).Field("address"), a.GetAddress(), help)
		known = known && ok && first.Is4() == second.Is4()
	}
	for i, a := range b.GetAdditionalSourceAddresses() {
		second, ok := check.IP(p, at.Item(more, i), a, help)
		known = known && ok && first.Is4() == second.Is4()
	}
	switch {
	case extra+additional > 1:
		p.Reject(at.Field(more), lint.Rejection{
			Message:  fmt.Sprintf("a cluster can have two source addresses, but this one has %d", 1+extra+additional),
			Help:     "keep one IPv4 and one IPv6 address",
			Upstream: owner + "'s upstream binding config has more than one extra/additional source addresses. Only one extra/additional source can be supported in BindConfig's extra_source_addresses/additional_source_addresses field",
		})
	case extra+additional == 1 && known:
		p.Reject(at.Item(more, 0), lint.Rejection{
			Message:  "both source addresses have the same IP version",
			Help:     "keep one of them, or replace one by an address of the other version",
			Upstream: owner + "'s upstream binding config has two same IP version source addresses. Only two different IP version source addresses can be supported in BindConfig's source_address and extra_source_addresses/additional_source_addresses fields",
		})
	}
}
