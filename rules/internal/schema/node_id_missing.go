package schema

import (
	"slices"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/check"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "node-id-missing",
	Family:   dataplane.Envoy,
	Severity: lint.Warning,
	Summary:  "a bootstrap subscribes to resources over xDS, but does not identify its node",
	Links:    []string{"https://github.com/envoyproxy/envoy/issues/21154"},
	Run: lint.Each(func(p *lint.Pass, at lint.At, b *bootstrapv3.Bootstrap) {
		node := b.GetNode()
		has := func(field protoreflect.Name, value, flag string) bool {
			return value != "" || check.UnderUnknownKey(at.Resource(), at.Field("node").Path(), field) || onCommandLine(p, flag)
		}
		id, cluster := has("id", node.GetId(), "--service-node"), has("cluster", node.GetCluster(), "--service-cluster")
		if at.Place.Parent != nil || id && cluster || at.Resource().Kind == graph.Patch {
			return // a patch is of a bootstrap that identifies its node
		}
		where, subscribes := subscription(p, at, b)
		if !subscribes {
			return
		}
		missing := "node.id and node.cluster"
		switch {
		case id:
			missing = "node.cluster"
		case cluster:
			missing = "node.id"
		}
		if node != nil {
			where = at.Field("node").Key()
		}
		p.Report(where, lint.Diagnostic{
			Message:  "the bootstrap subscribes to resources without " + missing,
			Notes:    []string{"Envoy exits at startup, unless --service-node and --service-cluster set them"},
			Help:     "write node: {id: …, cluster: …}, or set them on Envoy's command line",
			Upstream: "node 'id' and 'cluster' are required. Set it either in 'node' config or via --service-node and --service-cluster options.",
		})
	}),
})

// onCommandLine reports whether a container that runs the bootstrap sets a flag.
func onCommandLine(p *lint.Pass, flag string) bool {
	return slices.ContainsFunc(p.Snapshot.All(graph.Workload), func(r *graph.Resource) bool {
		line, _ := r.Runs.Command()
		_, set, _ := line.Flag(flag)
		return set
	})
}

// subscription returns the first config source of a bootstrap that Envoy uses.
func subscription(p *lint.Pass, at lint.At, b *bootstrapv3.Bootstrap) (where lint.At, found bool) {
	dynamic := b.GetDynamicResources()
	if dynamic.GetLdsConfig() != nil || dynamic.GetCdsConfig() != nil || dynamic.GetAdsConfig() != nil {
		return at.Field("dynamic_resources").Key(), true
	}
	for _, source := range p.Snapshot.Places("envoy.config.core.v3.ConfigSource") {
		if r := source.Resource; r.File == at.Resource().File && r.Delivery == graph.FromBootstrap {
			return source.At().Key(), true
		}
	}
	return at, false
}
