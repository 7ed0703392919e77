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
	Run: lint.ForSnapshot(func(p *lint.Pass) {
		b := envoy.BootOf(p.Snapshot)
		if b == nil || b.Message.GetDynamicResources().GetAdsConfig() != nil {
			return
		}
		for _, r := range p.Snapshot.All() {
			if r.Delivery != graph.FromBootstrap {
				continue
			}
			r.Walk(func(at *graph.Place) {
				if source, ok := graph.As[*corev3.ConfigSource](at); ok && source.GetAds() != nil {
					reportNoADS(p, at)
				}
			})
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
