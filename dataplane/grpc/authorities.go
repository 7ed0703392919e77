package grpc

import (
	"fmt"
	"net/url"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	aggregatev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/clusters/aggregate/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/graph"
)

// UndeclaredAuthorities reports the names of other resources whose authority the bootstrap does not declare (clientImpl.watchResource, gRFC A47).
func (c Client) UndeclaredAuthorities(at graph.At, resource proto.Message) (all []Fault) {
	if c.Bootstrap == nil {
		return nil
	}
	check := func(at graph.At, name string) { all = append(all, c.authority(at, name)...) }
	switch m := resource.(type) {
	case *listenerv3.Listener:
		for _, manager := range c.Managers(at, m) {
			check(manager.At.Field("rds", "route_config_name"), manager.Config.GetRds().GetRouteConfigName())
		}
	case *clusterv3.Cluster:
		check(at.Field("eds_cluster_config", "service_name"), m.GetEdsClusterConfig().GetServiceName())
		at := at.Field("cluster_type", "typed_config")
		members, _ := content[*aggregatev3.ClusterConfig](at, m.GetClusterType().GetTypedConfig())
		for i, name := range members.GetClusters() {
			check(at.Item("clusters", i), name)
		}
	}
	for _, t := range c.Tables(at, resource) {
		all = append(all, eachRoute(t, c.routeAuthorities)...)
	}
	return all
}

func (c Client) routeAuthorities(r route) []Fault {
	at, a := r.at.Field("route"), r.route.GetRoute()
	all := c.authority(at.Field("cluster"), a.GetCluster())
	for i, member := range a.GetWeightedClusters().GetClusters() {
		all = append(all, c.authority(at.Field("weighted_clusters").Item("clusters", i).Field("name"), member.GetName())...)
	}
	return all
}

func (c Client) authority(at graph.At, name string) []Fault {
	parsed, err := url.Parse(name)
	if err != nil || parsed.Scheme != "xdstp" {
		return nil
	}
	if _, ok := c.Bootstrap.Authorities[parsed.Host]; ok {
		return nil
	}
	return accepted(at, Fails, fmt.Sprintf("the bootstrap does not declare the authority %q", parsed.Host), "does not ask for the resource: it fails all RPCs that need it with UNAVAILABLE", "declare it in authorities of the bootstrap")
}
