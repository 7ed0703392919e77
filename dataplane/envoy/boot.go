package envoy

import (
	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/graph"
)

// Boot is what Envoy has before any config server has answered.
type Boot struct {
	Message  *bootstrapv3.Bootstrap // without its static resources
	Resource *graph.Resource
	view     graph.View
}

// BootOf returns the bootstrap of a snapshot. It returns nil if there is none, or if the snapshot is the config dump of a running Envoy,
// which has accepted its bootstrap already.
func BootOf(s graph.View) *Boot {
	b, r := s.Bootstrap()
	if b == nil || s.Dumped() {
		return nil
	}
	return &Boot{b, r, s}
}

// Cluster returns the cluster of the bootstrap with a name, or nil.
func (b *Boot) Cluster(name string) *clusterv3.Cluster {
	return inBoot[*clusterv3.Cluster](b, graph.Cluster, name)
}

// Secret returns the secret of the bootstrap with a name, or nil.
func (b *Boot) Secret(name string) *tlsv3.Secret { return inBoot[*tlsv3.Secret](b, graph.Secret, name) }

func inBoot[M any](b *Boot, kind graph.Kind, name string) (m M) {
	if r := b.view.Booted(kind, name); r != nil {
		m, _ = r.Message.(M)
	}
	return m
}

// Primary reports whether a cluster is ready before Envoy connects to the config servers: it is static, and if it uses EDS, its endpoints
// come from a file (ClusterManagerImpl::initialize).
func (b *Boot) Primary(name string) bool {
	c := b.Cluster(name)
	if c == nil || c.GetType() != clusterv3.Cluster_EDS {
		return c != nil
	}
	switch c.GetEdsClusterConfig().GetEdsConfig().GetConfigSourceSpecifier().(type) {
	case *corev3.ConfigSource_Path, *corev3.ConfigSource_PathConfigSource:
		return true
	}
	return false
}

// Need is what Envoy requires of a cluster that it looks up while it loads a configuration.
type Need uint8

// The needs.
const (
	AnyCluster     Need = iota // any known cluster, static or from CDS
	StaticCluster              // a cluster of the bootstrap
	PrimaryCluster             // a cluster of the bootstrap that does not need a config server itself: see Boot.Primary
)

// Has reports whether the bootstrap has a cluster that satisfies the need.
func (b *Boot) Has(n Need, name string) bool {
	if n == PrimaryCluster {
		return b.Primary(name)
	}
	return b.Cluster(name) != nil
}

// Names returns the names of the clusters in the bootstrap that satisfy the need.
func (b *Boot) Names(n Need) []string {
	var names []string
	for _, r := range b.view.All(graph.Cluster) {
		if r.Delivery == graph.FromBootstrap && b.Has(n, r.Name) {
			names = append(names, r.Name)
		}
	}
	return names
}
