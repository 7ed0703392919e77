package cluster

import (
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/internal/dynamic"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/each"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "override-source",
	Severity: lint.Error,
	Summary:  "a source of an override_host policy has neither a header nor metadata, or both",
	Links:    []string{"OverrideHostLbConfig::makeOverrideSources (source/extensions/load_balancing_policies/override_host/load_balancer.cc)"},
	Run: each.Cluster(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		x := p.Target.Extensions()
		for b := envoy.BalancingOf(x, at, c); b.Name != ""; b = b.Child(x) {
			if b.Name != envoy.OverrideHostPolicy {
				continue
			}
			for i, source := range dynamic.Items(b.Config, "override_host_sources") {
				at := b.At.Item("override_host_sources", i)
				_, header := dynamic.Value(source.Message().Interface(), "header")
				_, metadata := dynamic.Value(source.Message().Interface(), "metadata")
				switch {
				case header && metadata:
					p.Reject(at.Field("metadata").Key(), lint.Rejection{
						Message:  "a host source has either header or metadata, not both",
						Help:     "write two sources, in the order in which Envoy should try them",
						Upstream: "Only one override source must be set",
					})
				case !header && !metadata:
					p.Reject(at, lint.Rejection{
						Message:  "the host source has neither header nor metadata",
						Help:     "write header: …, or metadata: {key: …, path: …}",
						Upstream: "Empty override source",
					})
				}
			}
		}
	}),
})
