package grpc

import (
	"fmt"
	"strings"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	aggregatev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/clusters/aggregate/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/graph"
)

const (
	aggregateName = "envoy.clusters.aggregate"
	aggregateType = "envoy.extensions.clusters.aggregate.v3.ClusterConfig"
)

// ClusterType checks how a cluster finds its endpoints (validateClusterAndConstructClusterUpdate, gRFCs A27 and A37).
func (c Client) ClusterType(at graph.At, cluster *clusterv3.Cluster) []Fault {
	const help = "write EDS, LOGICAL_DNS or the cluster type envoy.clusters.aggregate"
	kind := cluster.GetClusterType()
	switch {
	case cluster.GetType() == clusterv3.Cluster_EDS, cluster.GetType() == clusterv3.Cluster_LOGICAL_DNS, isAggregate(c, cluster):
		return nil
	case kind != nil:
		return rejected(at.Field("cluster_type"), fmt.Sprintf("gRPC does not support the cluster type %s", kind.GetName()), "unsupported cluster type", help)
	case cluster.GetClusterDiscoveryType() == nil:
		return rejected(at, "the cluster has no type, and gRPC does not support STATIC clusters", "unsupported cluster type", help)
	}
	return rejected(at.Field("type"), fmt.Sprintf("gRPC does not support %s clusters", cluster.GetType()), "unsupported cluster type", help)
}

// isAggregate reports whether a client takes a cluster for an aggregate: core by the type of its configuration, the others by its name.
func isAggregate(c Client, cluster *clusterv3.Cluster) bool {
	kind := cluster.GetClusterType()
	if c.is(Core) {
		return typeName(kind.GetTypedConfig()) == aggregateType
	}
	return kind.GetName() == aggregateName
}

// Aggregate checks the members of an aggregate cluster (validateClusterAndConstructClusterUpdate, gRFC A37).
func (c Client) Aggregate(at graph.At, cluster *clusterv3.Cluster) []Fault {
	if !isAggregate(c, cluster) {
		return nil
	}
	at = at.Field("cluster_type", "typed_config")
	const help = "name the clusters in clusters"
	any := cluster.GetClusterType().GetTypedConfig()
	config, ok := content[*aggregatev3.ClusterConfig](at, any)
	switch {
	case !ok && c.is(Go) && readsMembers(at.Content(any)):
		return accepted(at, Fails, fmt.Sprintf("the configuration of the aggregate cluster is a %s", typeName(any)), "takes its bytes for the names of clusters, and fails all RPCs to it with UNAVAILABLE", help)
	case len(config.GetClusters()) == 0:
		return rejected(at, "the aggregate cluster has no members", "aggregate cluster has empty clusters field", help)
	}
	for i, name := range config.GetClusters() {
		if name == cluster.GetName() {
			return accepted(at.Item("clusters", i), Fails, "the aggregate cluster is a member of itself", "fails all RPCs to it with UNAVAILABLE", "remove the member")
		}
	}
	return nil
}

// readsMembers reports whether the bytes of a message of another type have members. grpc-go does not look at the type.
func readsMembers(m proto.Message) bool {
	if m == nil {
		return false
	}
	config := &aggregatev3.ClusterConfig{}
	raw, err := proto.Marshal(m)
	return err == nil && proto.Unmarshal(raw, config) == nil && len(config.GetClusters()) > 0
}

// Discovery checks from where the endpoints and the load reports of a cluster come (validateClusterAndConstructClusterUpdate, gRFCs A27 and A47).
func (c Client) Discovery(at graph.At, cluster *clusterv3.Cluster) (all []Fault) {
	if lrs := cluster.GetLrsServer(); lrs != nil && lrs.GetSelf() == nil {
		all = append(all, rejected(at.Field("lrs_server"), "gRPC reports load only to the server that the cluster comes from", "in lrs_server field", "write self: {}")...)
	}
	if cluster.GetType() != clusterv3.Cluster_EDS {
		return all
	}
	eds := cluster.GetEdsClusterConfig()
	if source := eds.GetEdsConfig(); source.GetAds() == nil && source.GetSelf() == nil {
		where := at
		if eds != nil {
			where = at.Field("eds_cluster_config")
		}
		all = append(all, rejected(where, "the endpoints do not come over ADS", "CDS's EDS config source is not ADS or Self", "write eds_config: {ads: {}} in eds_cluster_config")...)
	}
	if strings.HasPrefix(cluster.GetName(), "xdstp:") && eds.GetServiceName() == "" {
		all = append(all, rejected(at.Field("name"), "the cluster has an xdstp name, and no service_name for EDS", "CDS's EDS service name is not set with a new-style cluster name", "write service_name in eds_cluster_config")...)
	}
	return all
}

// LogicalDNS checks the single host of a LOGICAL_DNS cluster (dnsHostNameFromCluster, gRFC A37).
func (c Client) LogicalDNS(at graph.At, cluster *clusterv3.Cluster) []Fault {
	if cluster.GetType() != clusterv3.Cluster_LOGICAL_DNS {
		return nil
	}
	load := cluster.GetLoadAssignment()
	if load == nil {
		return rejected(at, "the cluster has no load_assignment with its host", "load_assignment not present for LOGICAL_DNS cluster", "write a load_assignment with one endpoint")
	}
	at = at.Field("load_assignment")
	if n := len(load.GetEndpoints()); n != 1 {
		return rejected(at, fmt.Sprintf("the cluster has %d localities instead of one", n), "load_assignment for LOGICAL_DNS cluster must have exactly one locality", "write one locality")
	}
	at = at.Item("endpoints", 0)
	hosts := load.GetEndpoints()[0].GetLbEndpoints()
	if n := len(hosts); n != 1 {
		return rejected(at, fmt.Sprintf("the cluster has %d endpoints instead of one", n), "locality for LOGICAL_DNS cluster must have exactly one endpoint", "write one endpoint")
	}
	return c.dnsHost(at.Item("lb_endpoints", 0), hosts[0])
}

func (c Client) dnsHost(at graph.At, host *endpointv3.LbEndpoint) []Fault {
	const help = "write a socket_address with a name and a port_value"
	address := host.GetEndpoint().GetAddress().GetSocketAddress()
	switch {
	case host.GetEndpoint() == nil:
		return rejected(at, "the endpoint has no address", "endpoint for LOGICAL_DNS cluster not set", help)
	case address == nil:
		return rejected(at.Field("endpoint"), "the endpoint has no socket_address", "socket address for endpoint for LOGICAL_DNS cluster not set", help)
	}
	at = at.Field("endpoint", "address", "socket_address")
	_, numbered := address.GetPortSpecifier().(*corev3.SocketAddress_PortValue)
	switch {
	case address.GetResolverName() != "":
		return rejected(at.Field("resolver_name"), "gRPC does not have custom resolvers", "has unexpected custom resolver name", "remove resolver_name")
	case address.GetAddress() == "" && c.is(Go, Core):
		return rejected(at, "the endpoint has no host", "host for endpoint for LOGICAL_DNS cluster not set", help)
	case !numbered || address.GetPortValue() == 0 && c.is(Go):
		return rejected(at, "the endpoint has no port", "port for endpoint for LOGICAL_DNS cluster not set", help)
	}
	return nil
}

// OutlierDetection checks outlier detection (outlierConfigFromCluster, gRFC A50).
func (c Client) OutlierDetection(at graph.At, cluster *clusterv3.Cluster) (all []Fault) {
	o, at := cluster.GetOutlierDetection(), at.Field("outlier_detection")
	for _, d := range []struct {
		field string
		value interface {
			CheckValid() error
			GetSeconds() int64
			GetNanos() int32
		}
		set bool
	}{
		{"interval", o.GetInterval(), o.GetInterval() != nil},
		{"base_ejection_time", o.GetBaseEjectionTime(), o.GetBaseEjectionTime() != nil},
		{"max_ejection_time", o.GetMaxEjectionTime(), o.GetMaxEjectionTime() != nil},
	} {
		if d.set && (d.value.CheckValid() != nil || d.value.GetSeconds() < 0 || d.value.GetNanos() < 0) {
			all = append(all, rejected(at.Field(d.field), d.field+" is negative or not a duration", "outlier_detection."+d.field, "write a duration of 0 or more")...)
		}
	}
	for _, p := range []struct {
		field string
		value uint32
		by    []string
	}{
		{"max_ejection_percent", o.GetMaxEjectionPercent().GetValue(), []string{Go, Java, Core}},
		{"enforcing_success_rate", o.GetEnforcingSuccessRate().GetValue(), []string{Go, Java, Core}},
		{"failure_percentage_threshold", o.GetFailurePercentageThreshold().GetValue(), []string{Go, Java}}, // core checks another variable
		{"enforcing_failure_percentage", o.GetEnforcingFailurePercentage().GetValue(), []string{Go, Java, Core}},
	} {
		if p.value > 100 && c.is(p.by...) {
			all = append(all, rejected(at.Field(p.field), fmt.Sprintf("%s is %d percent", p.field, p.value), "must be <= 100", "write a number from 0 to 100")...)
		}
	}
	return all
}

// NeverEjects reports outlier detection by signals that gRPC does not have (outlierConfigFromCluster, gRFC A50): it looks at the success rate and
// the failure percentage of RPCs, and not at errors in a row.
func (c Client) NeverEjects(at graph.At, cluster *clusterv3.Cluster) []Fault {
	o, at := cluster.GetOutlierDetection(), at.Field("outlier_detection")
	successRateOff := o.GetEnforcingSuccessRate() != nil && o.GetEnforcingSuccessRate().GetValue() == 0
	if o == nil || !successRateOff || o.GetEnforcingFailurePercentage().GetValue() > 0 {
		return nil
	}
	return accepted(at, Ignores, "outlier detection looks at nothing that gRPC counts", "ejects no endpoint", "set enforcing_success_rate or enforcing_failure_percentage: gRPC does not count errors in a row")
}
