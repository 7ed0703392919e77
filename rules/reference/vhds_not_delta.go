package reference

import (
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "vhds-not-delta",
	Severity: lint.Error,
	Summary:  "virtual hosts are to be discovered over something else than delta xDS",
	Why: `VHDS asks for single virtual hosts by name as requests come, which only the delta protocol can do: an ` + "`api_config_source`" + ` of type
` + "`DELTA_GRPC`" + `, or ADS. Envoy refuses a route configuration with any other source, inline or over RDS.`,
	Links: []string{"VhdsSubscription::createVhdsSubscription (source/common/router/vhds.cc)"},
	Run: lint.Each(func(p *lint.Pass, at lint.At, table *routev3.RouteConfiguration) {
		source := table.GetVhds().GetConfigSource()
		if source.GetConfigSourceSpecifier() == nil || source.GetAds() != nil || source.GetApiConfigSource().GetApiType() == corev3.ApiConfigSource_DELTA_GRPC {
			return
		}
		where := at.Field("vhds", "config_source")
		if source.GetApiConfigSource() != nil {
			where = where.Field("api_config_source", "api_type")
		}
		p.Report(where, lint.Diagnostic{
			Message: "VHDS works over DELTA_GRPC or ADS only",
			Notes:   []string{lint.Refusal(at.Resource())},
			Help:    "set api_config_source.api_type: DELTA_GRPC, or ads: {}",
			Refused: at.Resource().State == "", Upstream: "vhds: only 'DELTA_GRPC' or 'ADS' (which uses Delta xDS) is supported as a config source.",
		})
	}),
})
