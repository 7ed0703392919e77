package hardening

import (
	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

const monitors = "envoy.extensions.resource_monitors."

var _ = Rules.Add(&lint.Rule{
	Name:     "no-overload-manager",
	Profiles: map[lint.Profile]lint.Severity{lint.Edge: lint.Warning},
	Summary:  "nothing limits the memory or the connections that all clients together can use",
	Links: []string{
		edgeDocs,
		"https://www.envoyproxy.io/docs/envoy/latest/configuration/operations/overload_manager/overload_manager",
		"InstanceBase::startWorkers (source/server/server.cc)",
	},
	Run: lint.Each(func(p *lint.Pass, at lint.At, b *bootstrapv3.Bootstrap) {
		if at.Place.Parent != nil || b.GetDynamicResources().GetLdsConfig() == nil && !listens(p) {
			return
		}
		has := monitorsOf(at, b)
		if !has[monitors+"fixed_heap.v3.FixedHeapConfig"] && !has[monitors+"cgroup_memory.v3.CgroupMemoryConfig"] {
			p.Report(at.Field("overload_manager"), lint.Diagnostic{
				Message: "no resource monitor looks at the memory",
				Notes:   []string{"clients can make Envoy use memory until the system kills it"},
				Help:    "add an overload_manager with the monitor fixed_heap, and the actions shrink_heap and stop_accepting_requests",
			})
		}
		if !has[monitors+"downstream_connections.v3.DownstreamConnectionsConfig"] && !inRuntime(p, "overload.global_downstream_max_connections") {
			p.Report(at.Field("overload_manager"), lint.Diagnostic{
				Message: "the number of connections of clients is not limited",
				Notes:   []string{"Envoy warns about it when it starts; without a limit it opens connections until it has no more file descriptors"},
				Help:    "add the monitor global_downstream_max_connections to the overload_manager",
			})
		}
	}),
})

// monitorsOf returns the types of the resource monitors in a bootstrap.
func monitorsOf(at lint.At, b *bootstrapv3.Bootstrap) map[protoreflect.FullName]bool {
	all := map[protoreflect.FullName]bool{}
	for i, m := range b.GetOverloadManager().GetResourceMonitors() {
		config, _ := envoy.Content(at.Field("overload_manager").Item("resource_monitors", i).Field("typed_config"), m.GetTypedConfig())
		if config != nil {
			all[config.ProtoReflect().Descriptor().FullName()] = true
		}
	}
	return all
}

// inRuntime reports whether the runtime has a value for a key, or may get one.
func inRuntime(p *lint.Pass, key string) bool {
	r := envoy.RuntimeOf(p.Snapshot)
	return !r.Fixed || r.Integer(key, 0) > 0
}
