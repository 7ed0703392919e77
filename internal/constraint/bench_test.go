package constraint_test

import (
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/internal/constraint"
)

// BenchmarkCheck checks a message and all in it, the walk not counted: xdslint walks once for all of its rules.
func BenchmarkCheck(b *testing.B) {
	cluster := fromJSON(b, &clusterv3.Cluster{}, clusterJSON).ProtoReflect()
	b.Run("cluster", func(b *testing.B) { benchmarkCheck(b, cluster) })
	b.Run("routes", func(b *testing.B) {
		benchmarkCheck(b, fromJSON(b, &routev3.RouteConfiguration{}, routesJSON).ProtoReflect())
	})
	b.Run("cluster alone", func(b *testing.B) {
		report := fail(b)
		for b.Loop() {
			constraint.For(cluster.Descriptor()).Check(cluster, report)
		}
	})
}

func benchmarkCheck(b *testing.B, root protoreflect.Message) {
	var all []protoreflect.Message
	walk("", root, func(_ string, m protoreflect.Message) { all = append(all, m) })
	report := fail(b)
	b.ReportAllocs()
	for b.Loop() {
		for _, m := range all {
			constraint.For(m.Descriptor()).Check(m, report)
		}
	}
	b.ReportMetric(float64(len(all)), "messages")
}

func fail(b *testing.B) func(constraint.Violation) {
	return func(v constraint.Violation) { b.Fatal(v.Message) }
}

// BenchmarkGenerated is what PGV's generated Go code takes for the same, its walk counted.
func BenchmarkGenerated(b *testing.B) {
	cluster := fromJSON(b, &clusterv3.Cluster{}, clusterJSON)
	routes := fromJSON(b, &routev3.RouteConfiguration{}, routesJSON)
	for name, m := range map[string]interface{ Validate() error }{"cluster": cluster, "routes": routes} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := m.Validate(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
