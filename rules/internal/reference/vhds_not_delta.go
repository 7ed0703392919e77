package reference

import (
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "vhds-not-delta",
	Severity: lint.Error,
	Summary:  "VHDS does not use delta xDS",
	Links:    []string{"VhdsSubscription::createVhdsSubscription (source/common/router/vhds.cc)"},
	Run: lint.Each(func(p *lint.Pass, at lint.At, table *routev3.RouteConfiguration) {
		source, old := table.GetVhds().GetConfigSource(), p.Target.Before("1.39")
		if old && at.Place.Parent != nil {
			return // before 1.39, Envoy ignores VHDS of an inline table
		}
		if source.GetAds() != nil && !old {
			checkADS(p, at)
		}
		if source.GetConfigSourceSpecifier() == nil || source.GetAds() != nil && !old || source.GetApiConfigSource().GetApiType() == corev3.ApiConfigSource_DELTA_GRPC {
			return
		}
		where := at.Field("vhds", "config_source")
		if source.GetApiConfigSource() != nil {
			where = where.Field("api_config_source", "api_type")
		}
		d := lint.Diagnostic{
			Message:  "VHDS works only over DELTA_GRPC or ADS",
			Notes:    []string{envoy.OnReject(at.Resource())},
			Help:     "set api_config_source.api_type: DELTA_GRPC, or ads: {}",
			Rejected: at.Resource().State == "",
			Upstream: "vhds: only 'DELTA_GRPC' or 'ADS' (which uses Delta xDS) is supported as a config source.",
		}
		if old {
			d.Message, d.Help = "before Envoy 1.39, VHDS works only over DELTA_GRPC", "set api_config_source.api_type: DELTA_GRPC"
			d.Upstream = "vhds: only 'DELTA_GRPC' is supported as an api_type."
		}
		p.Report(where, d)
	}),
})

// checkADS checks the ADS stream that VHDS uses.
func checkADS(p *lint.Pass, at lint.At) {
	b, _ := p.Snapshot.Bootstrap()
	ads := b.GetDynamicResources().GetAdsConfig()
	if ads == nil || ads.GetApiType() == corev3.ApiConfigSource_DELTA_GRPC {
		return // reference/ads-without-ads-config
	}
	p.Reject(at.Field("vhds", "config_source", "ads").Key(), lint.Rejection{
		Message:  "VHDS needs an ADS stream of type DELTA_GRPC, and this one is " + ads.GetApiType().String(),
		Help:     "set dynamic_resources.ads_config.api_type: DELTA_GRPC, or give VHDS an api_config_source of that type",
		Upstream: "vhds: ADS must use DELTA_GRPC api_type when used as VHDS config source.",
	})
}
