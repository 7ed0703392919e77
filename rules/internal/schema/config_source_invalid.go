package schema

import (
	"fmt"
	"slices"
	"strings"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "config-source-invalid",
	Family:   dataplane.Envoy,
	Severity: lint.Error,
	Summary:  "a config source from which Envoy cannot subscribe",
	Run: lint.Each(checkConfigSource).And(lint.ForSnapshot(func(p *lint.Pass) {
		b, r := p.Snapshot.Bootstrap()
		if ads := b.GetDynamicResources().GetAdsConfig(); ads != nil {
			report(p, r.At().Field("dynamic_resources", "ads_config"), adsFault(ads), false)
		}
	})),
})

// fault describes what is wrong with a config source.
type fault struct {
	field, message, help, upstream string
}

// report reports a fault. Envoy finds a late one only when it starts, not with --mode validate.
func report(p *lint.Pass, at lint.At, f fault, late bool) {
	if f.message == "" {
		return
	}
	if f.field != "" {
		at = at.Field(strings.Split(f.field, ".")...)
	} else {
		at = at.Key()
	}
	d := lint.Diagnostic{Message: f.message, Notes: []string{envoy.OnReject(at.Resource())}, Help: f.help, Rejected: !late, Upstream: f.upstream}
	if late {
		d.Notes = []string{envoy.OnlyAtStart}
	}
	switch path, ok := strings.CutPrefix(f.help, "write ./"); {
	case ok && missing(at):
		d.Notes, d.Upstream = append(d.Notes, "the file does not exist either"), doesNotExist(path)
	case ok: // the only fault whose fix is certain
		d.Fixes = lint.Replace(at, "./"+path).Safe(f.help)
	}
	p.Report(at, d)
}

// missing reports whether the file at a path was looked for and not found.
func missing(at lint.At) bool {
	return slices.ContainsFunc(at.Resource().ProblemsAt(at.Path()), func(p graph.Problem) bool { return p.Kind == graph.Unreadable })
}

// sources lists the fields whose config source Envoy subscribes to when it reads them.
var sources = map[protoreflect.FullName]bool{
	"envoy.config.bootstrap.v3.Bootstrap.DynamicResources.cds_config": true,
	"envoy.config.bootstrap.v3.RuntimeLayer.RtdsLayer.rtds_config":    true,
	"envoy.config.cluster.v3.Cluster.EdsClusterConfig.eds_config":     true,
	"envoy.config.core.v3.ExtensionConfigSource.config_source":        true,
	vhdsSource: true,
	"envoy.extensions.filters.http.on_demand.v3.OnDemandCds.source":                                  true,
	"envoy.extensions.filters.network.http_connection_manager.v3.Rds.config_source":                  true,
	"envoy.extensions.filters.network.http_connection_manager.v3.ScopedRds.scoped_rds_config_source": true,
	"envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.OnDemand.odcds_config":                   true,
	secretSource: true,
}

const (
	ldsSource    = "envoy.config.bootstrap.v3.Bootstrap.DynamicResources.lds_config"
	vhdsSource   = "envoy.config.route.v3.Vhds.config_source"
	secretSource = "envoy.extensions.transport_sockets.tls.v3.SdsSecretConfig.sds_config"
)

func checkConfigSource(p *lint.Pass, at lint.At, source *corev3.ConfigSource) {
	fd := envoy.FieldOf(at.Place)
	if fd == nil || !envoy.OuterRead(p.Target.Extensions(), at.Place) {
		return
	}
	switch field := fd.FullName(); {
	case field == ldsSource:
		if f := sourceFault(source, false); !unused(at.Place) {
			report(p, at, f, true)
		}
	case field == "envoy.config.bootstrap.v3.Bootstrap.config_sources", field == "envoy.config.bootstrap.v3.Bootstrap.default_config_source":
		report(p, at, authorityFault(source, fd.IsList()), false)
	case field == "envoy.extensions.filters.network.thrift_proxy.v3.Trds.config_source", field == "envoy.extensions.filters.network.dubbo_proxy.v3.Drds.config_source",
		field == "envoy.extensions.filters.network.generic_proxy.v3.GenericRds.config_source":
		report(p, at, aggregatedOnly(source, fd.Parent().Name()), false)
	case field == vhdsSource && p.Target.Before("1.39") && at.Resource().Kind != graph.RouteConfiguration:
		// Before 1.39, Envoy ignores VHDS of an inline table.
	case sources[field] && !unused(at.Place):
		report(p, at, sourceFault(source, field == secretSource), false)
	}
}

// subscribes reports whether Envoy subscribes to a config source when it reads it or, for listeners, when it starts.
func subscribes(p *lint.Pass, at *graph.Place) bool {
	fd := envoy.FieldOf(at)
	return fd != nil && (sources[fd.FullName()] || fd.FullName() == ldsSource) && !unused(at) && envoy.OuterRead(p.Target.Extensions(), at)
}

// unused reports whether Envoy has no reason to subscribe to a config source: eds_config of a cluster of another type, and
// that of an xdstp name, which uses its authority's source.
func unused(at *graph.Place) bool {
	holder := at.Parent
	if eds, ok := holder.Message.Interface().(*clusterv3.Cluster_EdsClusterConfig); ok && holder.Parent != nil {
		c, ok := holder.Parent.Message.Interface().(*clusterv3.Cluster)
		return ok && (c.GetType() != clusterv3.Cluster_EDS || c.GetClusterType() != nil) || strings.HasPrefix(eds.GetServiceName(), "xdstp:")
	}
	return strings.HasPrefix(xdsLocator(at), "xdstp:")
}

// xdsLocator returns the resource name next to a config source, or "".
func xdsLocator(at *graph.Place) string {
	m := at.Parent.Message
	for _, name := range []protoreflect.Name{"cds_resources_locator", "lds_resources_locator", "route_config_name", "srds_resources_locator", "name"} {
		if fd := m.Descriptor().Fields().ByName(name); fd != nil && fd.Kind() == protoreflect.StringKind && m.Get(fd).String() != "" {
			return m.Get(fd).String()
		}
	}
	return ""
}

// sourceFault follows SubscriptionFactoryImpl::subscriptionFromConfigSource. version/v2 checks the transport version.
func sourceFault(source *corev3.ConfigSource, secret bool) fault {
	switch s := source.GetConfigSourceSpecifier().(type) {
	case *corev3.ConfigSource_Self:
		return fault{
			"self", "Envoy does not support self as a config source", "write ads: {}, or an api_config_source",
			"Missing config source specifier in envoy::config::core::v3::ConfigSource",
		}
	case *corev3.ConfigSource_ApiConfigSource:
		f := apiFault(s.ApiConfigSource, secret)
		if f.message != "" {
			f.field = strings.TrimSuffix("api_config_source."+f.field, ".")
		}
		return f
	}
	return pathFault(source)
}

// pathFault follows the file watcher, which takes the folder from the path (Filesystem::splitPathFromFilename).
func pathFault(source *corev3.ConfigSource) fault {
	path, field := source.GetPath(), "path" //nolint:staticcheck // deprecated, and in use
	if p := source.GetPathConfigSource(); p != nil && p.GetWatchedDirectory() == nil {
		path, field = p.GetPath(), "path_config_source.path"
	}
	if path == "" || strings.Contains(path, "/") {
		return fault{} // an empty path breaks a constraint
	}
	return fault{field, "the path has no folder, and Envoy does not accept such a path", "write ./" + path, "invalid file path " + path}
}

func apiFault(api *corev3.ApiConfigSource, secret bool) fault {
	switch t := api.GetApiType(); t {
	case corev3.ApiConfigSource_AGGREGATED_GRPC, corev3.ApiConfigSource_AGGREGATED_DELTA_GRPC:
		return fault{
			"api_type", fmt.Sprintf("%s is not a valid api_type here", t), "write ads: {} instead of api_config_source",
			fmt.Sprintf("Unsupported config source %s", t),
		}
	case corev3.ApiConfigSource_DEPRECATED_AND_UNAVAILABLE_DO_NOT_USE:
		return restLegacy(api)
	case corev3.ApiConfigSource_REST:
		if f := namesFault(api); f.message != "" && !secret {
			return f
		}
		if api.GetRefreshDelay() == nil {
			return fault{
				"refresh_delay", "REST needs a refresh_delay", "add the time between two requests, such as refresh_delay: 5s",
				"refresh_delay is required for REST API configuration sources",
			}
		}
		return fault{}
	}
	return namesFault(api)
}

func restLegacy(api *corev3.ApiConfigSource) fault {
	if f := namesFault(api); f.message != "" {
		f.message += ", and it has no api_type"
		return f
	}
	return fault{"api_type", "the api_config_source has no api_type", "write GRPC, DELTA_GRPC or REST", "REST_LEGACY no longer a supported ApiConfigSource"}
}

// namesFault follows checkApiConfigSourceNames.
func namesFault(api *corev3.ApiConfigSource) fault {
	t := api.GetApiType()
	clusters, services := len(api.GetClusterNames()), len(api.GetGrpcServices())
	grpc := t != corev3.ApiConfigSource_REST && t != corev3.ApiConfigSource_DEPRECATED_AND_UNAVAILABLE_DO_NOT_USE
	switch {
	case clusters == 0 && services == 0:
		return fault{
			"", "the api_config_source names no server", "write grpc_services for gRPC, or cluster_names for REST",
			"API configs must have either a gRPC service or a cluster name defined",
		}
	case grpc && clusters > 0:
		return fault{
			"cluster_names", fmt.Sprintf("%s takes grpc_services, not cluster_names", t), "write grpc_services: [{envoy_grpc: {cluster_name: …}}]",
			"(AGGREGATED_)(DELTA_)GRPC must not have a cluster name specified",
		}
	case grpc && services > 1:
		return fault{
			"grpc_services", fmt.Sprintf("there are %d grpc_services, but Envoy takes one", services), "keep one of them",
			"(AGGREGATED_)(DELTA_)GRPC must have no more than 1 gRPC services specified",
		}
	case !grpc && services > 0:
		return fault{
			"grpc_services", "only GRPC and DELTA_GRPC take grpc_services", "write api_type: GRPC or DELTA_GRPC",
			"if not a gRPC type, must not have a gRPC service specified",
		}
	case !grpc && clusters != 1:
		return fault{"cluster_names", fmt.Sprintf("there are %d cluster_names, but REST takes one", clusters), "keep one of them", "must have a singleton cluster name specified"}
	}
	return fault{}
}

// adsFault follows the checks of XdsManagerImpl on ads_config.
func adsFault(api *corev3.ApiConfigSource) fault {
	if f := namesFault(api); f.message != "" {
		return f
	}
	if t := api.GetApiType(); t != corev3.ApiConfigSource_GRPC && t != corev3.ApiConfigSource_DELTA_GRPC {
		return fault{
			"api_type", fmt.Sprintf("ads_config cannot be of type %s", t), "write GRPC, or DELTA_GRPC for delta xDS: ads_config is aggregated anyway",
			"type must be of non-aggregated gRPC",
		}
	}
	return fault{}
}

// authorityFault follows XdsManagerImpl::createAuthority.
func authorityFault(source *corev3.ConfigSource, listed bool) fault {
	if source.GetApiConfigSource() == nil {
		return fault{"", "the config source of an xdstp authority must be an api_config_source", "", "Only api_config_source type is currently supported for xdstp-based config sources."}
	}
	if listed && len(source.GetAuthorities()) == 0 {
		return fault{"", "this config source does not name an authority", "", "xdstp-based non-default config source must have at least one authority."}
	}
	seen := map[string]bool{}
	for _, a := range source.GetAuthorities() {
		if seen[a.GetName()] {
			return fault{
				"authorities", fmt.Sprintf("duplicate authority %q", a.GetName()), "",
				fmt.Sprintf("xdstp-based config source authority %s is configured more than once in an xdstp-based config source.", a.GetName()),
			}
		}
		seen[a.GetName()] = true
	}
	if t := source.GetApiConfigSource().GetApiType(); t != corev3.ApiConfigSource_AGGREGATED_GRPC && t != corev3.ApiConfigSource_AGGREGATED_DELTA_GRPC {
		return fault{
			"api_config_source.api_type", fmt.Sprintf("an xdstp authority cannot be served by %s", t), "write AGGREGATED_GRPC or AGGREGATED_DELTA_GRPC",
			"xdstp-based config source authority only supports AGGREGATED_GRPC and AGGREGATED_DELTA_GRPC types.",
		}
	}
	return fault{}
}

// aggregatedOnly reports a source other than ADS: Envoy gets the routes of Thrift, Dubbo and the generic proxy from nowhere else.
func aggregatedOnly(source *corev3.ConfigSource, name protoreflect.Name) fault {
	api := source.GetApiConfigSource()
	if api == nil {
		return sourceFault(source, false)
	}
	f := fault{
		"api_config_source.api_type", fmt.Sprintf("%s does not take an api_config_source", strings.ToLower(string(name))), "write ads: {}",
		fmt.Sprintf("%s supports only aggregated api_type in api_config_source", strings.ToLower(string(name))),
	}
	if t := api.GetApiType(); t == corev3.ApiConfigSource_AGGREGATED_GRPC || t == corev3.ApiConfigSource_AGGREGATED_DELTA_GRPC {
		f.upstream = fmt.Sprintf("Unsupported config source %s", t)
	}
	return f
}
