package bootstrap

import (
	"fmt"
	"math"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "config-source-settings",
	Severity: lint.Error,
	Summary:  "the connection to a config server has invalid settings",
	Links: []string{
		"Utility::buildJitteredExponentialBackOffStrategy, Utility::parseRateLimitSettings (source/common/config/utility.cc)",
		"XdsManagerImpl::createAuthority (source/common/config/xds_manager_impl.cc)",
	},
	Run: lint.Each(func(p *lint.Pass, at lint.At, api *corev3.ApiConfigSource) {
		if at.Resource().State != "" || !envoy.OuterRead(p.Target.Extensions(), at.Place) {
			return
		}
		use := useOf(at.Place)
		if use == unused {
			return
		}
		for _, w := range wrongSettings(at, api, use) {
			if use == usedLate {
				late(p, w)
			} else {
				w.reject(p)
			}
		}
	}),
})

// use is how Envoy uses an api_config_source when it loads a configuration.
type use uint8

const (
	unused     use = iota
	subscribed     // GRPC and DELTA_GRPC
	authority      // it is one of the config_sources
	usedLate       // Envoy uses it only when it runs
)

// sources maps the fields of config sources to their use.
var sources = map[protoreflect.FullName]use{
	"envoy.config.bootstrap.v3.Bootstrap.config_sources":                                             authority,
	"envoy.config.bootstrap.v3.Bootstrap.default_config_source":                                      authority,
	"envoy.config.bootstrap.v3.Bootstrap.DynamicResources.cds_config":                                subscribed,
	"envoy.config.bootstrap.v3.Bootstrap.DynamicResources.lds_config":                                usedLate,
	"envoy.config.bootstrap.v3.RuntimeLayer.RtdsLayer.rtds_config":                                   subscribed,
	"envoy.config.cluster.v3.Cluster.EdsClusterConfig.eds_config":                                    subscribed,
	"envoy.config.core.v3.ExtensionConfigSource.config_source":                                       subscribed,
	"envoy.config.route.v3.Vhds.config_source":                                                       subscribed,
	"envoy.extensions.filters.http.on_demand.v3.OnDemandCds.source":                                  subscribed,
	"envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.OnDemand.odcds_config":                   subscribed,
	"envoy.extensions.filters.network.http_connection_manager.v3.Rds.config_source":                  subscribed,
	"envoy.extensions.filters.network.http_connection_manager.v3.ScopedRds.scoped_rds_config_source": subscribed,
	"envoy.extensions.transport_sockets.tls.v3.SdsSecretConfig.sds_config":                           subscribed,
}

func useOf(api *graph.Place) use {
	if api.Parent == nil {
		return unused // a patch: its surroundings are not known
	}
	if _, ads := api.Parent.Message.Interface().(*bootstrapv3.Bootstrap_DynamicResources); ads {
		return subscribed // ads_config
	}
	fd := envoy.FieldOf(api.Parent)
	if fd == nil || api.Parent.Parent == nil {
		return unused
	}
	if _, eds := api.Parent.Parent.Message.Interface().(*clusterv3.Cluster_EdsClusterConfig); eds {
		cluster := api.Enclosing("envoy.config.cluster.v3.Cluster")
		if cluster == nil {
			return unused
		}
		if c, _ := cluster.Message.Interface().(*clusterv3.Cluster); c.GetType() != clusterv3.Cluster_EDS || c.GetClusterType() != nil {
			return unused
		}
	}
	return sources[fd.FullName()]
}

func wrongSettings(at lint.At, api *corev3.ApiConfigSource, u use) (all []wrong) {
	if !connects(api, u) {
		return nil // not over gRPC, or schema/config-source-invalid
	}
	if u == authority {
		all = append(all, wrongServers(at, api)...)
	}
	if len(api.GetGrpcServices()) > 0 {
		service, at := api.GetGrpcServices()[0], at.Item("grpc_services", 0)
		backOff := service.GetEnvoyGrpc().GetRetryPolicy().GetRetryBackOff()
		all = append(all, wrongBackOff(at.Field("envoy_grpc", "retry_policy", "retry_back_off"), backOff)...)
	}
	if rate := api.GetRateLimitSettings().GetFillRate().GetValue(); math.IsNaN(rate) || math.IsInf(rate, 0) {
		all = append(all, wrong{
			at.Field("rate_limit_settings", "fill_rate"), fmt.Sprintf("fill_rate is not a finite number: %v", rate),
			"write the number of requests per second",
			"The value of fill_rate in RateLimitSettings must not be NaN nor Inf",
		})
	}
	return all
}

// connects reports whether Envoy creates a gRPC client for an api_config_source.
func connects(api *corev3.ApiConfigSource, u use) bool {
	switch api.GetApiType() {
	case corev3.ApiConfigSource_GRPC, corev3.ApiConfigSource_DELTA_GRPC:
		return u == subscribed || u == usedLate
	case corev3.ApiConfigSource_AGGREGATED_GRPC, corev3.ApiConfigSource_AGGREGATED_DELTA_GRPC:
		return u == authority
	}
	return false
}

// wrongBackOff calculates in 32 bits, as Envoy does.
func wrongBackOff(at lint.At, b *corev3.BackoffStrategy) []wrong {
	const upstream = "max_interval must be greater than or equal to the base_interval"
	base := uint32(milliseconds(b.GetBaseInterval())) //nolint:gosec // the overflow is Envoy's
	if b.GetMaxInterval() == nil {
		if base*10 >= base {
			return nil
		}
		return []wrong{{
			at.Field("base_interval"), "the default max_interval, ten times the base_interval, overflows",
			"write a max_interval", upstream,
		}}
	}
	if uint32(milliseconds(b.GetMaxInterval())) >= base { //nolint:gosec // the overflow is Envoy's
		return nil
	}
	return []wrong{{
		at.Field("max_interval"), "max_interval is shorter than base_interval",
		"write a longer max_interval, or remove it to use ten times the base_interval", upstream,
	}}
}
