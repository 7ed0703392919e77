package schema

import (
	"iter"
	"slices"
	"strings"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	metricsv3 "github.com/envoyproxy/go-control-plane/envoy/config/metrics/v3"
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
	Summary:  "a bootstrap does not identify its node, and Envoy needs that to subscribe to resources",
	Links:    []string{"https://github.com/envoyproxy/envoy/issues/21154"},
	Run: lint.Each(func(p *lint.Pass, at lint.At, b *bootstrapv3.Bootstrap) {
		if at.Place.Parent != nil || at.Resource().Kind == graph.Patch {
			return // a patch is of a bootstrap that identifies its node
		}
		fields, flags := unidentified(p, at, b.GetNode())
		where, does := needsNode(p, at, b)
		if len(fields) == 0 || does == "" {
			return
		}
		if b.GetNode() != nil {
			where = at.Field("node").Key()
		}
		set := strings.Join(flags, " and ")
		p.Report(where, lint.Diagnostic{
			Message:  "the bootstrap " + does + " without " + strings.Join(fields, " and "),
			Notes:    []string{"Envoy exits at startup, unless it is started with " + set},
			Help:     "write node: {id: …, cluster: …}, or give Envoy " + set,
			Upstream: "node 'id' and 'cluster' are required. Set it either in 'node' config or via --service-node and --service-cluster options.",
			Unless:   "it is started with " + set,
		})
	}),
})

// unidentified returns the fields of a bootstrap's node that are not set, and the flags that set them.
func unidentified(p *lint.Pass, at lint.At, node *corev3.Node) (fields, flags []string) {
	for _, f := range []struct {
		name        protoreflect.Name
		value, flag string
	}{{"id", node.GetId(), "--service-node"}, {"cluster", node.GetCluster(), "--service-cluster"}} {
		if f.value == "" && !check.UnderUnknownKey(at.Resource(), at.Field("node").Path(), f.name) && !onCommandLine(p, f.flag) {
			fields, flags = append(fields, "node."+string(f.name)), append(flags, f.flag)
		}
	}
	return fields, flags
}

// onCommandLine reports whether a container that runs the bootstrap sets a flag.
func onCommandLine(p *lint.Pass, flag string) bool {
	return slices.ContainsFunc(p.Snapshot.All(graph.Workload), func(r *graph.Resource) bool {
		line, _ := r.Runs.Command()
		_, set, _ := line.Flag(flag)
		return set
	})
}

// needsNode returns the first place of a bootstrap for which Envoy has to know its node, and what the bootstrap does there.
func needsNode(p *lint.Pass, at lint.At, b *bootstrapv3.Bootstrap) (where lint.At, does string) {
	const subscribes = "subscribes to resources"
	dynamic := b.GetDynamicResources()
	// A delta stream that nothing subscribes over does not need it.
	ads := dynamic.GetAdsConfig()
	if dynamic.GetLdsConfig() != nil || dynamic.GetCdsConfig() != nil || ads != nil && ads.GetApiType() != corev3.ApiConfigSource_DELTA_GRPC {
		return at.Field("dynamic_resources").Key(), subscribes
	}
	for source := range booted(p, at, "envoy.config.core.v3.ConfigSource") {
		return source.Key(), subscribes
	}
	for sink := range booted(p, at, "envoy.config.metrics.v3.StatsdSink") {
		if sink.Place.Message.Interface().(*metricsv3.StatsdSink).GetTcpClusterName() != "" {
			return sink.Field("tcp_cluster_name"), "sends statistics to statsd over TCP"
		}
	}
	return at, ""
}

// booted ranges over the messages of a type in the file of a bootstrap that Envoy reads.
func booted(p *lint.Pass, at lint.At, name protoreflect.FullName) iter.Seq[lint.At] {
	return func(yield func(lint.At) bool) {
		for _, place := range p.Snapshot.Places(name) {
			if r := place.Resource; r.File == at.Resource().File && r.Delivery == graph.FromBootstrap && !yield(place.At()) {
				return
			}
		}
	}
}
