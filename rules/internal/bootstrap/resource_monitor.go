package bootstrap

import (
	"strings"

	"google.golang.org/protobuf/proto"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	overloadv3 "github.com/envoyproxy/go-control-plane/envoy/config/overload/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "resource-monitor",
	Severity: lint.Error,
	Summary:  "a resource monitor of the overload manager has an invalid configuration",
	Links: []string{
		"FixedHeapMonitor (source/extensions/resource_monitors/fixed_heap/fixed_heap_monitor.cc)",
		"OverloadManagerImpl::OverloadManagerImpl (source/server/overload_manager_impl.cc)",
	},
	Run: each(func(p *lint.Pass, at lint.At, b *bootstrapv3.Bootstrap) {
		for i, monitor := range b.GetOverloadManager().GetResourceMonitors() {
			checkMonitor(p, at.Field("overload_manager").Item("resource_monitors", i), monitor)
		}
	}),
})

const (
	monitors     = "envoy.extensions.resource_monitors."
	proactive    = "envoy.resource_monitors.global_downstream_max_connections"
	proactiveFor = monitors + "downstream_connections.v3.DownstreamConnectionsConfig"
)

func checkMonitor(p *lint.Pass, at lint.At, monitor *overloadv3.ResourceMonitor) {
	held := monitor.GetTypedConfig()
	if held == nil {
		return // schema/missing-typed-config
	}
	is := configured(at, held)
	if monitor.GetName() == proactive && is != proactiveFor {
		p.Reject(at.Field("name"), lint.Rejection{
			Message:  "this name is reserved for the monitor of downstream connections",
			Help:     "give this monitor another name",
			Upstream: "Didn't find a registered implementation for '" + proactive + "' with type URL: '" + string(is) + "'",
		})
		return
	}
	if monitor.GetName() != proactive && is == proactiveFor {
		p.Reject(at.Field("name"), lint.Rejection{
			Message:  "the monitor of downstream connections cannot have another name",
			Help:     "write " + proactive,
			Upstream: "Didn't find a registered implementation for '" + monitor.GetName() + "' with type URL: '" + proactiveFor + "'",
			Fixes:    lint.Replace(at.Field("name"), proactive).Safe("write " + proactive),
		})
		return
	}
	config, where := envoy.Content(at.Field("typed_config"), held)
	if config == nil {
		return
	}
	switch is {
	case monitors + "fixed_heap.v3.FixedHeapConfig":
		checkHeap(p, where, config)
	case monitors + "injected_resource.v3.InjectedResourceConfig":
		if file, ok := field(config, "filename"); ok && file.String() != "" && !strings.Contains(file.String(), "/") {
			p.Reject(where.Field("filename"), lint.Rejection{
				Message:  "filename does not include a folder",
				Help:     "write ./" + file.String(),
				Upstream: "invalid file path " + file.String(),
			})
		}
	}
}

// checkHeap checks a FixedHeapConfig. The size can be a number, or, in newer versions, a number that the runtime can change.
func checkHeap(p *lint.Pass, at lint.At, config proto.Message) {
	size, ok := field(config, "max_heap_size_bytes")
	if !ok {
		return
	}
	where, bytes := at.Field("max_heap_size_bytes"), size.Uint()
	if runtime, ok := field(config, "max_heap_size_bytes_runtime"); ok && runtime.Message().IsValid() {
		if bytes > 0 {
			p.Reject(where, lint.Rejection{
				Message:  "max_heap_size_bytes cannot be combined with max_heap_size_bytes_runtime",
				Help:     "remove one of them",
				Upstream: "fixed_heap: exactly one of max_heap_size_bytes or max_heap_size_bytes_runtime must be set",
			})
			return
		}
		value, _ := field(runtime.Message().Interface(), "default_value")
		where, bytes = at.Field("max_heap_size_bytes_runtime"), value.Uint()
	}
	if bytes == 0 {
		p.Reject(where, lint.Rejection{
			Message:  "the maximum heap size must be greater than 0",
			Help:     "write the number of bytes that Envoy may use",
			Upstream: "fixed_heap: max heap size must be greater than 0",
		})
	}
}
