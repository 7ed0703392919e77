package admission_test

import (
	"context"
	"fmt"
	"maps"
	"testing"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/xdslint/xdslint/admission"
	"github.com/xdslint/xdslint/rules"
)

// BenchmarkSetSnapshot measures a control plane that creates all messages again for each push. It changes one cluster, only the version
// (unchanged), or makes one cluster invalid (withheld). Plain is the cache alone, without Envoys, equal is proto.Equal over all messages.
// With "same", the messages that do not change are the same pointers.
func BenchmarkSetSnapshot(b *testing.B) {
	for _, n := range []int{100, 1000, 10000} {
		first := large(b, n, "first", eds("service-00000"))
		anew := func(change func(c *clusterv3.Cluster, push int) *clusterv3.Cluster) func(push int) *cachev3.Snapshot {
			return func(push int) *cachev3.Snapshot {
				return large(b, n, fmt.Sprintf("push %d", push), change(eds("service-00000"), push))
			}
		}
		b.Run(fmt.Sprintf("plain/%d", n), func(b *testing.B) {
			benchmark(b, cachev3.NewSnapshotCache(true, cachev3.IDHash{}, nil), first, anew(timed))
		})
		b.Run(fmt.Sprintf("equal/%d", n), func(b *testing.B) {
			other := anew(timed)(1)
			for range b.N {
				if different(first, other) != 1 {
					b.Fatal("not one message differs")
				}
			}
		})
		for _, push := range []struct {
			name string
			next func(push int) *cachev3.Snapshot
		}{
			{"gate", anew(timed)},
			{"same", func(push int) *cachev3.Snapshot { return changed(first, timed(eds("service-00000"), push), push) }},
			{"unchanged", anew(func(c *clusterv3.Cluster, _ int) *clusterv3.Cluster { return c })},
			{"withheld", anew(func(c *clusterv3.Cluster, push int) *clusterv3.Cluster { return refused(timed(c, push)) })},
		} {
			b.Run(fmt.Sprintf("%s/%d", push.name, n), func(b *testing.B) {
				gate, err := admission.New(cachev3.NewSnapshotCache(true, cachev3.IDHash{}, nil), admission.Options{
					Rules: rules.Builtin(), Bootstrap: bootstrap(b), Policy: admission.Quarantine, Deadline: time.Minute,
				})
				if err != nil {
					b.Fatal(err)
				}
				benchmark(b, gate, first, push.next)
			})
		}
	}
}

// timed gives a cluster another timeout for each push.
func timed(c *clusterv3.Cluster, push int) *clusterv3.Cluster {
	c.ConnectTimeout = durationpb.New(time.Second + time.Duration(push)*time.Millisecond)
	return c
}

// benchmark pushes what next returns for each push, after what a node has when a control plane has run for a while.
func benchmark(b *testing.B, cache cachev3.SnapshotCache, first *cachev3.Snapshot, next func(push int) *cachev3.Snapshot) {
	push := func(s *cachev3.Snapshot) {
		if err := cache.SetSnapshot(context.Background(), node, s); err != nil {
			b.Fatal(err)
		}
	}
	push(first)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		b.StopTimer()
		made := next(i)
		b.StartTimer()
		push(made)
	}
}

// different counts the messages that are not equal.
func different(a, b *cachev3.Snapshot) (n int) {
	for t := range a.Resources {
		for name, item := range a.Resources[t].Items {
			if !proto.Equal(item.Resource, b.Resources[t].Items[name].Resource) {
				n++
			}
		}
	}
	return n
}

// changed returns a snapshot with another cluster, and the same other messages.
func changed(s *cachev3.Snapshot, c *clusterv3.Cluster, push int) *cachev3.Snapshot {
	made := *s
	for t, r := range s.Resources {
		made.Resources[t].Items = maps.Clone(r.Items)
	}
	made.Resources[types.Cluster].Version = fmt.Sprintf("change %d", push)
	made.Resources[types.Cluster].Items[c.GetName()] = types.ResourceWithTTL{Resource: c}
	return &made
}

// BenchmarkFleet measures one change for nodes that have the same snapshot, or equal snapshots of their own, in a cache alone and behind a gate.
func BenchmarkFleet(b *testing.B) {
	one := large(b, 1000, "v0", eds("service-00000"))
	for _, nodes := range []int{1, 1000} {
		for _, kind := range []string{"plain", "gate", "own"} {
			b.Run(fmt.Sprintf("%s/%d", kind, nodes), func(b *testing.B) {
				cache := cachev3.NewSnapshotCache(true, cachev3.IDHash{}, nil)
				if kind != "plain" {
					gate, err := admission.New(cache, admission.Options{
						Rules: rules.Builtin(), Bootstrap: bootstrap(b), Policy: admission.Quarantine, Deadline: time.Minute,
					})
					if err != nil {
						b.Fatal(err)
					}
					cache = gate
				}
				push := func(s *cachev3.Snapshot) {
					for i := range nodes {
						served := s
						if kind == "own" {
							own := *s
							served = &own
						}
						if err := cache.SetSnapshot(context.Background(), fmt.Sprintf("edge-%d", i), served); err != nil {
							b.Fatal(err)
						}
					}
				}
				push(one)
				b.ReportAllocs()
				b.ResetTimer()
				for i := range b.N {
					b.StopTimer()
					next := changed(one, timed(eds("service-00000"), i), i)
					b.StartTimer()
					push(next)
				}
			})
		}
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
