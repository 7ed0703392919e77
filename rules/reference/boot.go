package reference

import (
	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/graph"
)

// boot is what Envoy knows before any config server has answered.
type boot struct {
	message  *bootstrapv3.Bootstrap
	resource *graph.Resource
	clusters map[string]*clusterv3.Cluster
	secrets  map[string]*tlsv3.Secret
}

// bootOf finds the snapshot's bootstrap; nil where there is none, or where the snapshot is the dump of an Envoy that runs
// already and so has refused nothing of it.
func bootOf(s *graph.Snapshot) *boot {
	b := &boot{clusters: map[string]*clusterv3.Cluster{}, secrets: map[string]*tlsv3.Secret{}}
	for _, r := range s.Resources {
		if r.State != "" {
			return nil
		}
		if r.Delivery != graph.Booted {
			continue
		}
		switch m := r.Message.(type) {
		case *bootstrapv3.Bootstrap:
			b.message, b.resource = m, r
		case *clusterv3.Cluster:
			if b.clusters[r.Name] == nil {
				b.clusters[r.Name] = m
			}
		case *tlsv3.Secret:
			if b.secrets[r.Name] == nil {
				b.secrets[r.Name] = m
			}
		}
	}
	if b.message == nil {
		return nil
	}
	return b
}

// primary tells whether a cluster is there before the config servers are asked: static, and no EDS unless from a file
// (ClusterManagerImpl::initialize).
func (b *boot) primary(name string) bool {
	c := b.clusters[name]
	if c == nil || c.GetType() != clusterv3.Cluster_EDS {
		return c != nil
	}
	switch c.GetEdsClusterConfig().GetEdsConfig().GetConfigSourceSpecifier().(type) {
	case *corev3.ConfigSource_Path, *corev3.ConfigSource_PathConfigSource:
		return true
	}
	return false
}

// need is what Envoy wants of a cluster that it looks up while it loads a configuration.
type need uint8

const (
	known   need = iota // a cluster that it has, be it static or from CDS
	static              // one of the bootstrap
	primary             // one of the bootstrap that needs no config server itself
)

func (b *boot) has(n need, name string) bool {
	if n == primary {
		return b.primary(name)
	}
	return b.clusters[name] != nil
}

func (b *boot) names(n need) []string {
	var names []string
	for _, c := range b.message.GetStaticResources().GetClusters() {
		if b.has(n, c.GetName()) {
			names = append(names, c.GetName())
		}
	}
	return names
}
