package constraint

import (
	"testing"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
)

// BenchmarkCompile is the cold cost of one large message type.
func BenchmarkCompile(b *testing.B) {
	md := (*clusterv3.Cluster)(nil).ProtoReflect().Descriptor()
	b.ReportAllocs()
	for b.Loop() {
		compile(md, rulesOf)
	}
}
