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
	Message  *bootstrapv3.Bootstrap
	Resource *graph.Resource
	Clusters map[string]*clusterv3.Cluster
	Secrets  map[string]*tlsv3.Secret
}

// BootOf returns the bootstrap of a snapshot. It returns nil if there is none, or if the snapshot is the config dump of a running Envoy,
// which has accepted its bootstrap already.
func BootOf(s graph.View) *Boot {
	b := &Boot{Clusters: map[string]*clusterv3.Cluster{}, Secrets: map[string]*tlsv3.Secret{}}
	for _, r := range s.All() {
		if r.State != "" {
			return nil
		}
		if r.Delivery != graph.FromBootstrap {
			continue
		}
		switch m := r.Message.(type) {
		case *bootstrapv3.Bootstrap:
			b.Message, b.Resource = m, r
		case *clusterv3.Cluster:
			if b.Clusters[r.Name] == nil {
				b.Clusters[r.Name] = m
			}
		case *tlsv3.Secret:
			if b.Secrets[r.Name] == nil {
				b.Secrets[r.Name] = m
			}
		}
	}
	if b.Message == nil {
		return nil
	}
	return b
}

// Primary reports whether a cluster is ready before Envoy connects to the config servers: it is static, and if it uses EDS, its endpoints
// come from a file (ClusterManagerImpl::initialize).
func (b *Boot) Primary(name string) bool {
	c := b.Clusters[name]
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
	return b.Clusters[name] != nil
}

// Names returns the names of the clusters in the bootstrap that satisfy the need.
func (b *Boot) Names(n Need) []string {
	var names []string
	for _, c := range b.Message.GetStaticResources().GetClusters() {
		if b.Has(n, c.GetName()) {
			names = append(names, c.GetName())
		}
	}
	return names
}
