package ops

import (
	grpcstatsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/grpc_stats/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "stats-cardinality",
	Severity: lint.Info,
	Profiles: map[lint.Profile]lint.Severity{lint.Edge: lint.Warning},
	Summary:  "clients can create any number of metrics, because there are some for each gRPC method that a client names",
	Links: []string{
		"GrpcStatsFilter::decodeHeaders (source/extensions/filters/http/grpc_stats/grpc_stats_filter.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_filters/grpc_stats_filter",
	},
	Run: lint.Each(func(p *lint.Pass, at lint.At, m *grpcstatsv3.FilterConfig) {
		if !m.GetStatsForAllMethods().GetValue() {
			return
		}
		p.Report(at.Field("stats_for_all_methods"), lint.Diagnostic{
			Message: "each method that a client names gets metrics of its own, whether it exists or not",
			Notes:   []string{"Envoy keeps them until it ends, so a client that makes names up uses up the memory"},
			Help:    "list the methods in individual_method_stats_allowlist, unless all clients are trusted",
		})
	}),
})
