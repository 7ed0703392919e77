package admission_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"

	"github.com/xdslint/xdslint/admission"
	"github.com/xdslint/xdslint/rules"
)

// BenchmarkSetSnapshot measures a control plane that creates all messages again for each push. It changes one cluster, only the version
// (unchanged), or makes one cluster invalid (withheld). Plain is the cache alone, without Envoys.
func BenchmarkSetSnapshot(b *testing.B) {
	for _, n := range []int{100, 1000, 10000} {
		one, two := large(b, n, "v0", eds("service-00000")), large(b, n, "v1", slow(eds("service-00000")))
		b.Run(fmt.Sprintf("plain/%d", n), func(b *testing.B) {
			benchmark(b, cachev3.NewSnapshotCache(true, cachev3.IDHash{}, nil), one, two)
		})
		for _, push := range []struct {
			name string
			next *cachev3.Snapshot
		}{
			{"gate", two},
			{"unchanged", large(b, n, "v2", eds("service-00000"))},
			{"withheld", large(b, n, "v3", refused(eds("service-00000")))},
		} {
			b.Run(fmt.Sprintf("%s/%d", push.name, n), func(b *testing.B) {
				gate, err := admission.New(cachev3.NewSnapshotCache(true, cachev3.IDHash{}, nil), admission.Options{
					Rules: rules.Builtin(), Bootstrap: bootstrap(b), Policy: admission.Quarantine, Deadline: time.Minute,
				})
				if err != nil {
					b.Fatal(err)
				}
				benchmark(b, gate, one, push.next)
			})
		}
	}
}

func benchmark(b *testing.B, cache cachev3.SnapshotCache, pushes ...*cachev3.Snapshot) {
	push := func(i int) {
		if err := cache.SetSnapshot(context.Background(), node, pushes[i%2]); err != nil {
			b.Fatal(err)
		}
	}
	push(0) // what a node has when a control plane has run for a while
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		push(i + 1)
	}
}

// large is a snapshot of n clusters with their endpoints, and a listener with a route configuration for each ten. The first cluster is given.
func large(t testing.TB, n int, version string, first *clusterv3.Cluster) *cachev3.Snapshot {
	var all []types.Resource
	for i := 0; i < n; i += 10 {
		var targets []string
		for j := i; j < i+10; j++ {
			name := fmt.Sprintf("service-%05d", j)
			all = append(all, eds(name), endpoints(name, 8080))
			targets = append(targets, name)
		}
		name := fmt.Sprintf("table-%05d", i)
		all = append(all, listener(fmt.Sprintf("listener-%05d", i), uint32(20000+i), name), table(name, targets...))
	}
	all[0] = first
	return snapshot(t, version, all...)
}
