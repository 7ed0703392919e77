package envoy

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	tracev3 "github.com/envoyproxy/go-control-plane/envoy/config/trace/v3"
	thriftv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/thrift_proxy/v3"
	prioritygroupv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/router/cluster_specifiers/priority_group/v3"

	"github.com/xdslint/xdslint/graph"
)

// Lookup is a lookup of a name that Envoy does while it loads a configuration. Envoy rejects the configuration if the lookup fails. Most
// names are looked up only when traffic arrives.
type Lookup struct {
	Need  Need
	Says  string // the gist of Envoy's message
	Why   string
	Help  string
	Later string // an alternative to Help if CDS is used
	Late  bool   // Envoy does the lookup only at a real start, not in --mode validate
}

const hcmName protoreflect.FullName = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"

// LookupOf returns the lookup of a reference, or nil if Envoy looks the name up only at run time.
func LookupOf(e *graph.Edge) *Lookup {
	switch e.Field {
	case "envoy.config.route.v3.RouteAction.cluster":
		return tableCheck(e, routeChecked(e.Place), "route: unknown cluster '%s'")
	case "envoy.config.route.v3.WeightedCluster.ClusterWeight.name":
		return tableCheck(e, routeChecked(e.Place), "route: unknown weighted cluster '%s'")
	case "envoy.config.route.v3.RouteAction.RequestMirrorPolicy.cluster":
		return tableCheck(e, mirrorChecked(e.Place), "route: unknown shadow cluster '%s'")
	case "envoy.extensions.router.cluster_specifiers.priority_group.v3.ClusterWeight.cluster_name":
		return tableCheck(e, pluginChecked(e.Place),
			"route: unknown cluster '%s' in priority group '"+strings.ReplaceAll(priorityGroup(e.Place), "%", "%%")+"'")
	case "envoy.extensions.filters.network.thrift_proxy.v3.RouteAction.cluster":
		return tableCheck(e, thriftChecked(e.Place), "route: unknown thrift cluster '%s'")
	case "envoy.extensions.filters.network.thrift_proxy.v3.WeightedCluster.ClusterWeight.name":
		return tableCheck(e, thriftChecked(e.Place), "route: unknown thrift weighted cluster '%s'")
	case "envoy.extensions.filters.network.thrift_proxy.v3.RouteAction.RequestMirrorPolicy.cluster":
		return tableCheck(e, thriftChecked(e.Place), "route: unknown thrift shadow cluster '%s'")
	case "envoy.config.bootstrap.v3.ClusterManager.local_cluster_name":
		return &Lookup{
			Need: StaticCluster, Says: fmt.Sprintf("local cluster '%s' must be defined", e.Target),
			Why: "the local cluster must be in the bootstrap", Help: "add it to static_resources.clusters",
		}
	}
	switch RoleOf(e) {
	case TelemetryCluster:
		return telemetryCheck(e)
	case ConfigServerCluster:
		return configSourceCheck(e)
	}
	return nil
}

func tableCheck(e *graph.Edge, checked bool, format string) *Lookup {
	if !checked {
		return nil
	}
	return &Lookup{
		Need: AnyCluster, Says: fmt.Sprintf(format, e.Target),
		Why:  "validate_clusters is on (the default of an inline route table), so clusters must exist when the table is loaded",
		Help: "add it to static_resources.clusters", Later: "set validate_clusters: false in the route table if the cluster comes from CDS",
	}
}

// routeChecked reports whether Envoy looks up the clusters of the route around a place when it loads the route table.
func routeChecked(at *graph.Place) bool {
	route := at.Enclosing("envoy.config.route.v3.Route")
	if route == nil {
		return false
	}
	// Envoy does not check routes that are actions of a matcher.
	host, ok := graph.As[*routev3.VirtualHost](route.Parent)
	return ok && host != nil && tableChecked(route.Parent.Parent)
}

func tableChecked(at *graph.Place) bool {
	table, ok := graph.As[*routev3.RouteConfiguration](at)
	if !ok {
		return false // a virtual host from VHDS
	}
	if given := table.GetValidateClusters(); given != nil {
		return given.GetValue()
	}
	return at.Parent != nil // inline, in a connection manager or in a scope
}

// mirrorChecked reports whether Envoy looks up the cluster of a mirror policy. A route without mirror policies inherits those of its
// virtual host, and a virtual host those of its table.
func mirrorChecked(at *graph.Place) bool {
	switch around := at.Parent; {
	case around == nil:
		return false
	case around.Enclosing("envoy.config.route.v3.Route") != nil:
		return routeChecked(at)
	default:
		if host, ok := graph.As[*routev3.VirtualHost](around); ok {
			return inheritsMirrors(host) && tableChecked(around.Parent)
		}
		table, ok := graph.As[*routev3.RouteConfiguration](around)
		if !ok || !tableChecked(around) {
			return false
		}
		for _, host := range table.GetVirtualHosts() {
			if len(host.GetRequestMirrorPolicies()) == 0 && inheritsMirrors(host) {
				return true
			}
		}
		return false
	}
}

func inheritsMirrors(host *routev3.VirtualHost) bool {
	for _, route := range host.GetRoutes() {
		if len(route.GetRoute().GetRequestMirrorPolicies()) == 0 {
			return true
		}
	}
	return false
}

// pluginChecked reports whether Envoy looks up the clusters of a cluster specifier plugin. If the table declares the plugin, Envoy checks
// it only if a route names it.
func pluginChecked(at *graph.Place) bool {
	plugin, ok := graph.As[*routev3.ClusterSpecifierPlugin](at.Enclosing("envoy.config.route.v3.ClusterSpecifierPlugin"))
	if !ok || at.Enclosing("envoy.config.route.v3.Route") != nil {
		return routeChecked(at)
	}
	around := at.Enclosing("envoy.config.route.v3.RouteConfiguration")
	table, ok := graph.As[*routev3.RouteConfiguration](around)
	if !ok || !tableChecked(around) {
		return false
	}
	for _, host := range table.GetVirtualHosts() {
		for _, route := range host.GetRoutes() {
			if name := route.GetRoute().GetClusterSpecifierPlugin(); name != "" && name == plugin.GetExtension().GetName() {
				return true
			}
		}
	}
	return false
}

func priorityGroup(at *graph.Place) string {
	group, _ := graph.As[*prioritygroupv3.PriorityGroup](at.Parent)
	return group.GetName()
}

func thriftChecked(at *graph.Place) bool {
	table, ok := graph.As[*thriftv3.RouteConfiguration](at.Enclosing("envoy.extensions.filters.network.thrift_proxy.v3.RouteConfiguration"))
	if !ok {
		return false
	}
	if given := table.GetValidateClusters(); given != nil {
		return given.GetValue()
	}
	return at.Enclosing("envoy.extensions.filters.network.thrift_proxy.v3.ThriftProxy") != nil
}

// telemetryCheck returns the lookup of a telemetry cluster. Only stats sinks and some tracers and loggers look up their cluster when they
// are created.
func telemetryCheck(e *graph.Edge) *Lookup {
	inManager := e.Place.Enclosing(hcmName) != nil // the tracer of a bootstrap is created when a manager first uses it
	tracer := func(name string) *Lookup {
		return &Lookup{
			Says: fmt.Sprintf("%s: unknown cluster '%s'", name, e.Target),
			Why:  "the tracer looks up its collector when the listener is loaded", Help: "add it to static_resources.clusters",
		}
	}
	switch {
	case e.Field == "envoy.config.metrics.v3.StatsdSink.tcp_cluster_name":
		return &Lookup{
			Need: StaticCluster, Says: fmt.Sprintf("tcp statsd: unknown cluster '%s'", e.Target),
			Why: "the cluster of a stats sink must be in the bootstrap", Help: "add it to static_resources.clusters",
		}
	case e.Field == fieldEnvoyGrpc && e.Place.Enclosing("envoy.config.metrics.v3.StatsSink") != nil:
		return &Lookup{
			Need: StaticCluster, Says: fmt.Sprintf("Unknown gRPC client cluster '%s'", e.Target),
			Why: "the cluster of a stats sink must be in the bootstrap", Help: "add it to static_resources.clusters",
		}
	case e.Field == "envoy.extensions.access_loggers.fluentd.v3.FluentdAccessLogConfig.cluster":
		return &Lookup{
			Need: StaticCluster, Says: fmt.Sprintf("cluster '%s' was not found", e.Target),
			Why: "the cluster of this logger must be in the bootstrap", Help: "add it to static_resources.clusters",
		}
	case e.Field == "envoy.config.trace.v3.DatadogConfig.collector_cluster" && inManager:
		return tracer("envoy.tracers.datadog")
	}
	if z, ok := graph.As[*tracev3.ZipkinConfig](e.Place.Enclosing("envoy.config.trace.v3.ZipkinConfig")); ok && inManager {
		if e.Field == fieldHTTPURI || z.GetCollectorService() == nil {
			return tracer("envoy.tracers.zipkin")
		}
	}
	return nil
}

// configSourceCheck follows Utility::checkApiConfigSourceSubscriptionBackingCluster, which ignores DELTA_GRPC, and
// ClusterManagerImpl::checkActiveStaticCluster for the servers of ADS, health checks and load reports.
func configSourceCheck(e *graph.Edge) *Lookup {
	at := e.Place.Enclosing("envoy.config.core.v3.ApiConfigSource")
	api, ok := graph.As[*corev3.ApiConfigSource](at)
	if !ok {
		return nil
	}
	// The field that holds the source, and the message that has this field.
	field, holder := at.Path.Name(), at.Parent
	if source, ok := graph.As[*corev3.ConfigSource](holder); ok && source != nil {
		field, holder = holder.Path.Name(), holder.Parent
	}
	if holder == nil {
		return nil
	}
	c := &Lookup{
		Need: PrimaryCluster, Help: "make it a cluster of static_resources that does not use EDS",
		Why: "the cluster of a config server must be ready before any config server answers",
	}
	grpc := fmt.Sprintf("Unknown gRPC client cluster '%s'", e.Target)
	switch field {
	case "ads_config", "config_sources", "default_config_source": // the last two serve xdstp:// names over ADS
		c.Says = grpc
		return c
	case "hds_config", "load_stats_config":
		c.Need, c.Says, c.Late = StaticCluster, grpc, true
		return c
	case "lds_config":
		c.Late = true
	case "lrs_server":
		return nil // of a cluster: Envoy reports to the server that the cluster came from
	case "rds_config_source":
		return nil // of scoped routes: Envoy subscribes when a scope names its route configuration
	case "leds_config":
		if e.From.Kind == graph.Cluster {
			return nil // LEDS works only for endpoints from EDS
		}
	}
	switch holder.Message.Descriptor().FullName() {
	case "envoy.extensions.transport_sockets.tls.v3.SdsSecretConfig",
		"envoy.extensions.transport_sockets.tls.cert_selectors.on_demand_secret.v3.Config":
		return nil // envoy.restart_features.skip_backing_cluster_check_for_sds
	}
	switch api.GetApiType() {
	case corev3.ApiConfigSource_GRPC, corev3.ApiConfigSource_REST:
		c.Says = fmt.Sprintf("envoy.config.core.v3.ApiConfigSource must have a statically defined non-EDS cluster: "+
			"'%s' does not exist, was added via api, or is an EDS cluster", e.Target)
		return c
	}
	return nil
}
