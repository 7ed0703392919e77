package grpc

import (
	"fmt"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	faultv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/fault/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/graph"
)

// ignored reports the fields of a message that are set, and that gRPC does not read.
func ignored(at graph.At, m proto.Message, then, help string, fields ...protoreflect.Name) (all []Fault) {
	r := m.ProtoReflect()
	for _, name := range fields {
		if fd := r.Descriptor().Fields().ByName(name); fd != nil && r.Has(fd) {
			all = append(all, accepted(at.Field(string(name)), Ignores, fmt.Sprintf("gRPC does not read %s", name), then, help)...)
		}
	}
	return all
}

// changes are the fields of tables, virtual hosts, routes and members that change headers.
var changes = []protoreflect.Name{"request_headers_to_add", "request_headers_to_remove", "response_headers_to_add", "response_headers_to_remove"}

// Unread reports the fields of routes that change requests or responses in Envoy, and that gRPC does not read (routesProtoToSlice, gRFC A28).
func (c Client) Unread(t Table) []Fault {
	const then, help = "ignores it", "remove it"
	all := ignored(t.At, t.Config, then, help, changes...)
	for i, host := range t.Config.GetVirtualHosts() {
		all = append(all, ignored(t.At.Item("virtual_hosts", i), host, then, help, changes...)...)
	}
	return append(all, eachRoute(t, func(r route) []Fault {
		at, a := r.at.Field("route"), r.route.GetRoute()
		all := ignored(r.at, r.route, then, help, changes...)
		all = append(all, ignored(at, a, then, "write max_stream_duration, which gRPC reads", "timeout")...)
		all = append(all, ignored(at, a, then, help, "request_mirror_policies", "prefix_rewrite", "regex_rewrite", "rate_limits",
			"host_rewrite_literal", "host_rewrite_header", "host_rewrite_path_regex")...)
		if !c.enabled(authorityRewrite, false) {
			all = append(all, ignored(at, a, then, help, "auto_host_rewrite")...)
		}
		all = append(all, ignored(at.Field("retry_policy"), a.GetRetryPolicy(), then, help, "per_try_timeout", "per_try_idle_timeout")...)
		for i, member := range a.GetWeightedClusters().GetClusters() {
			all = append(all, ignored(at.Field("weighted_clusters").Item("clusters", i), member, then, help, changes...)...)
		}
		return all
	})...)
}

// ConditionsUnread reports conditions of routes that gRPC does not check (routesProtoToSlice, gRFC A28): it takes the routes for other RPCs too.
func (c Client) ConditionsUnread(t Table) []Fault {
	return eachRoute(t, func(r route) []Fault {
		at := r.at.Field("match")
		all := ignored(at, r.route.GetMatch(), "takes the route whether or not it holds", "match paths and headers instead",
			"tls_context", "dynamic_metadata", "filter_state", "cookies")
		for i, h := range r.route.GetMatch().GetHeaders() {
			all = append(all, missingAsEmpty(at.Item("headers", i), h)...)
		}
		return all
	})
}

// missingAsEmpty reports a matcher that is to take an absent header for an empty one. In gRPC, an absent header fits only present_match.
func missingAsEmpty(at graph.At, h *routev3.HeaderMatcher) []Fault {
	if h.GetTreatMissingHeaderAsEmpty() {
		return ignored(at, h, "takes an absent header for one that does not match", "send the header always, or match its absence with present_match", "treat_missing_header_as_empty")
	}
	return nil
}

// SubsetsUnread reports routes to endpoints with some metadata: gRPC does not select endpoints by it.
func (c Client) SubsetsUnread(t Table) []Fault {
	return eachRoute(t, func(r route) []Fault {
		const then, help = "sends RPCs to all endpoints of the cluster", "make clusters of the endpoints"
		at, a := r.at.Field("route"), r.route.GetRoute()
		all := ignored(at, a, then, help, "metadata_match")
		for i, member := range a.GetWeightedClusters().GetClusters() {
			all = append(all, ignored(at.Field("weighted_clusters").Item("clusters", i), member, then, help, "metadata_match")...)
		}
		return all
	})
}

// FaultsUnrestricted reports faults that are meant for some RPCs. gRPC injects them into all (fault.interceptor, gRFC A33).
func (c Client) FaultsUnrestricted(at graph.At, resource proto.Message) []Fault {
	return c.eachConfig(at, resource, func(at graph.At, config proto.Message) []Fault {
		m, ok := config.(*faultv3.HTTPFault)
		if !ok || m.GetAbort() == nil && m.GetDelay() == nil {
			return nil
		}
		return ignored(at, m, "injects the fault into all RPCs", "configure the fault for single routes, with typed_per_filter_config", "headers", "upstream_cluster", "downstream_nodes")
	})
}

// FiltersNotDisabled reports HTTP filters that are disabled, and that run in gRPC (processHTTPFilters).
func (c Client) FiltersNotDisabled(m Manager) (all []Fault) {
	if c.disables() {
		return nil
	}
	for i, f := range m.Config.GetHttpFilters() {
		at := m.At.Item("http_filters", i)
		name, _ := wrapped(at.Field("typed_config"), f.GetTypedConfig())
		if here, _ := c.supports(name, m.Server); here && name != routerType && f.GetDisabled() {
			all = append(all, ignored(at, f, "runs the filter", "remove the filter, or give gRPC a listener of its own", "disabled")...)
		}
	}
	return all
}

// disables reports whether the client reads disabled of filters (processHTTPFilters).
func (c Client) disables() bool {
	return c.enabled(extProcOnClient, false) || c.enabled(extAuthzOnClient, false)
}

// OverridesNotDisabled reports routes, virtual hosts and clusters for which a filter is disabled, and runs in gRPC (processHTTPFilterOverrides).
func (c Client) OverridesNotDisabled(t Table) (all []Fault) {
	if c.disables() {
		return nil
	}
	for _, o := range c.overridesIn(t) {
		wrapper, ok := content[*routev3.FilterConfig](o.at, o.any)
		name, _ := wrapped(o.at.Field("config"), wrapper.GetConfig())
		if _, anywhere := c.supports(name, false); ok && wrapper.GetDisabled() && (anywhere || name == "" && wrapper.GetIsOptional()) {
			all = append(all, ignored(o.at, wrapper, "runs the filter", "remove the filter where it is not to run", "disabled")...)
		}
	}
	return all
}

// ClusterUnread reports what protects endpoints in Envoy, and does not in gRPC: health checks, and limits other than max_requests of the
// default priority (circuitBreakersFromCluster, gRFC A32).
func (c Client) ClusterUnread(at graph.At, cluster *clusterv3.Cluster) []Fault {
	all := ignored(at, cluster, "does not check endpoints: it takes their health_status from EDS", "send the health of endpoints over EDS", "health_checks")
	at = at.Field("circuit_breakers")
	taken := false
	for i, t := range cluster.GetCircuitBreakers().GetThresholds() {
		at := at.Item("thresholds", i)
		if t.GetPriority() != corev3.RoutingPriority_DEFAULT || taken {
			const message = "gRPC reads only the first thresholds of the priority DEFAULT"
			all = append(all, accepted(at, Ignores, message, "ignores them", "write max_requests in thresholds of the priority DEFAULT")...)
			continue
		}
		taken = true
		all = append(all, ignored(at, t, "ignores it", "limit RPCs with max_requests", "max_connections", "max_pending_requests", "max_retries", "retry_budget", "max_connection_pools")...)
	}
	if len(cluster.GetCircuitBreakers().GetPerHostThresholds()) > 0 {
		all = append(all, ignored(at, cluster.GetCircuitBreakers(), "ignores it", "limit RPCs with max_requests in thresholds", "per_host_thresholds")...)
	}
	return all
}

// reserved are the headers that a client of grpc-go adds after it has chosen a route, and that a program cannot set (isReservedHeader).
var reserved = []string{"content-type", "user-agent", "te", "grpc-timeout", "grpc-encoding", "grpc-message", "grpc-status", "grpc-message-type"}

// pseudo reports whether a header is one of HTTP/2.
func pseudo(name string) bool { return strings.HasPrefix(name, ":") }
