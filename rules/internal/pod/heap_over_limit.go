package pod

import (
	"fmt"
	"math/big"
	"strings"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	overloadv3 "github.com/envoyproxy/go-control-plane/envoy/config/overload/v3"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

const fixedHeap protoreflect.FullName = "envoy.extensions.resource_monitors.fixed_heap.v3.FixedHeapConfig"

var _ = Rules.Add(&lint.Rule{
	Name:     "heap-over-limit",
	Severity: lint.Warning,
	Summary:  "the kernel kills Envoy before the overload manager acts",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/configuration/operations/overload_manager/overload_manager",
		limitDocs,
		"FixedHeapMonitor::updateResourceUsage (source/extensions/resource_monitors/fixed_heap/fixed_heap_monitor.cc)",
	},
	Run: each(func(p *lint.Pass, w workload) {
		limit, limitAt, ok := w.Limit("memory")
		b, r := p.Snapshot.Bootstrap()
		if !ok || b == nil {
			return
		}
		for i, monitor := range b.GetOverloadManager().GetResourceMonitors() {
			config, at := envoy.Content(r.At().Field("overload_manager").Item("resource_monitors", i).Field("typed_config"), monitor.GetTypedConfig())
			if config == nil || nameOf(config) != fixedHeap {
				continue
			}
			heap := config.ProtoReflect().Get(config.ProtoReflect().Descriptor().Fields().ByName("max_heap_size_bytes")).Uint()
			action, begins := earliest(b, monitor.GetName(), heap)
			if action == "" || begins.Cmp(limit) < 0 {
				continue
			}
			p.Report(at.Field("max_heap_size_bytes"), lint.Diagnostic{
				Message: fmt.Sprintf("%s begins at %s of heap, and the container may use %s of memory", strings.TrimPrefix(action, "envoy.overload_actions."), mebibytes(begins), limitAt.Text()),
				Notes:   []string{"the kernel kills Envoy when the container reaches its limit, and all its connections end; the overload manager never acts"},
				Help:    "write a max_heap_size_bytes well below the limit: not all memory is heap. Or use the monitor cgroup_memory, which reads the limit",
				Related: w.related(limitAt, "the limit"),
			})
		}
	}),
})

// earliest returns the overload action that begins first as the heap grows, and at how many bytes. It is empty if no action depends on the monitor.
func earliest(b *bootstrapv3.Bootstrap, monitor string, heap uint64) (action string, begins *big.Rat) {
	note := func(name string, triggers []*overloadv3.Trigger) {
		for _, t := range triggers {
			share := new(big.Rat).SetFloat64(begin(t))
			if t.GetName() != monitor || share == nil {
				continue
			}
			share.Mul(share, new(big.Rat).SetInt(new(big.Int).SetUint64(heap)))
			if begins == nil || share.Cmp(begins) < 0 {
				action, begins = name, share
			}
		}
	}
	for _, a := range b.GetOverloadManager().GetActions() {
		note(a.GetName(), a.GetTriggers())
	}
	for _, point := range b.GetOverloadManager().GetLoadshedPoints() {
		note(point.GetName(), point.GetTriggers())
	}
	return action, begins
}

// begin returns the share of a resource from which a trigger has an effect.
func begin(t *overloadv3.Trigger) float64 {
	if scaled := t.GetScaled(); scaled != nil {
		return scaled.GetScalingThreshold()
	}
	return t.GetThreshold().GetValue()
}

func mebibytes(n *big.Rat) string {
	whole := new(big.Int).Quo(n.Num(), n.Denom())
	return whole.Rsh(whole, 20).String() + "Mi"
}
