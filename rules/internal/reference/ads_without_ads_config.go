package reference

import (
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "ads-without-ads-config",
	Severity: lint.Error,
	Summary:  "a config source is ads: {}, but the bootstrap has no ads_config",
	Links:    []string{"NullGrpcMuxImpl (source/common/config/null_grpc_mux_impl.h)"},
	Run: lint.Each(func(p *lint.Pass, at lint.At, source *corev3.ConfigSource) {
		if source.GetAds() == nil || at.Resource().Delivery != graph.FromBootstrap {
			return
		}
		if b := envoy.BootOf(p.Snapshot); b != nil && b.Message.GetDynamicResources().GetAdsConfig() == nil {
			reportNoADS(p, at.Place)
		}
	}),
})

func reportNoADS(p *lint.Pass, at *graph.Place) {
	d := lint.Diagnostic{
		Message:  "ads needs an ads_config, and the bootstrap has none",
		Notes:    []string{envoy.OnlyAtStart},
		Help:     "add dynamic_resources.ads_config",
		Upstream: "ADS must be configured to support an ADS config source",
	}
	if fd := envoy.FieldOf(at); fd != nil && fd.FullName() == "envoy.config.route.v3.Vhds.config_source" {
		if p.Target.Before("1.39") {
			return // before 1.39, Envoy ignores VHDS of an inline table
		}
		d.Notes, d.Rejected = []string{envoy.OnReject(at.Resource)}, true
		d.Upstream = "vhds: ADS config source specified but no ADS configured in bootstrap."
	}
	p.Report(at.At().Field("ads").Key(), d)
}
