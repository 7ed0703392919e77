package schema

import (
	"math"
	"slices"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "percent-nan",
	Severity: lint.Error,
	Summary:  "a percentage is not a number",
	Links:    []string{"PROTOBUF_PERCENT_TO_ROUNDED_INTEGER_OR_DEFAULT (source/common/protobuf/utility.h)"},
	Run: lint.Each(func(p *lint.Pass, at lint.At, m *typev3.Percent) {
		holder := at.Place.Parent
		if !math.IsNaN(m.GetValue()) || holder == nil || !percentRead(holder, envoy.FieldOf(at.Place)) {
			return
		}
		if built, _ := envoy.Validated(p.Target.Extensions(), holder); built {
			p.Reject(at.Field("value"), lint.Rejection{
				Message:  "NaN is not a percentage",
				Help:     "write a number from 0 to 100",
				Upstream: "Value not in the range of 0..100 range.",
			})
		}
	}),
})

// percentages are the fields that Envoy reads as soon as it loads a configuration. No constraint finds NaN in them.
var percentages = []protoreflect.FullName{
	"envoy.config.bootstrap.v3.Watchdog.multikill_threshold",
	"envoy.extensions.filters.http.adaptive_concurrency.v3.GradientControllerConfig.sample_aggregate_percentile",
	"envoy.extensions.filters.http.adaptive_concurrency.v3.GradientControllerConfig.MinimumRTTCalculationParams.jitter",
	"envoy.extensions.filters.http.adaptive_concurrency.v3.GradientControllerConfig.MinimumRTTCalculationParams.buffer",
	"envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager.Tracing.random_sampling",
	"envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager.Tracing.overall_sampling",
}

func percentRead(holder *graph.Place, fd protoreflect.FieldDescriptor) bool {
	c, where := graph.Around[*clusterv3.Cluster](holder)
	if where == nil {
		return slices.Contains(percentages, fd.FullName())
	}
	if where.Parent != nil || c.GetClusterType() != nil || c.GetType() != clusterv3.Cluster_STATIC {
		return false // other clusters balance only when they have endpoints
	}
	switch fd.FullName() {
	case "envoy.config.cluster.v3.Cluster.CommonLbConfig.healthy_panic_threshold":
		return true
	case "envoy.config.cluster.v3.Cluster.CommonLbConfig.ZoneAwareLbConfig.routing_enabled":
		return c.GetLbPolicy() != clusterv3.Cluster_RING_HASH && c.GetLbPolicy() != clusterv3.Cluster_MAGLEV
	case "envoy.config.cluster.v3.Cluster.SlowStartConfig.min_weight_percent":
		own := map[clusterv3.Cluster_LbPolicy]string{clusterv3.Cluster_ROUND_ROBIN: "round_robin_lb_config", clusterv3.Cluster_LEAST_REQUEST: "least_request_lb_config"}
		return c.GetLoadBalancingPolicy() == nil && holder.Parent.Path.Name() == own[c.GetLbPolicy()]
	}
	return false
}
