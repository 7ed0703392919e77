package route

import (
	"fmt"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "append-conflict",
	Severity: lint.Error,
	Summary:  "a header to add has both append and append_action",
	Links:    []string{"HeadersToAddEntry::HeadersToAddEntry (source/common/router/header_parser.cc)"},
	Run: lint.Each(func(p *lint.Pass, at lint.At, m *corev3.HeaderValueOption) {
		if !envoy.AppendsTwice(m) || !headersToAdd[string(holder(at))] {
			return
		}
		if _, ok := tableOf(p, at); !ok {
			return
		}
		p.Reject(at.Field("append").Key(), lint.Rejection{
			Message:  fmt.Sprintf("append cannot be combined with append_action, but header %q has both", m.GetHeader().GetKey()),
			Help:     "remove append",
			Upstream: "Both append and append_action are set and it's not allowed",
			Related:  []lint.Related{lint.RelatedTo(at.Field("append_action"), "the append_action")},
		})
	}),
})

// headersToAdd are the fields that HeaderParser::configure reads.
var headersToAdd = map[string]bool{
	"envoy.config.route.v3.RouteConfiguration.request_headers_to_add":             true,
	"envoy.config.route.v3.RouteConfiguration.response_headers_to_add":            true,
	"envoy.config.route.v3.VirtualHost.request_headers_to_add":                    true,
	"envoy.config.route.v3.VirtualHost.response_headers_to_add":                   true,
	"envoy.config.route.v3.Route.request_headers_to_add":                          true,
	"envoy.config.route.v3.Route.response_headers_to_add":                         true,
	"envoy.config.route.v3.WeightedCluster.ClusterWeight.request_headers_to_add":  true,
	"envoy.config.route.v3.WeightedCluster.ClusterWeight.response_headers_to_add": true,
	"envoy.config.common.mutation_rules.v3.HeaderMutation.append":                 true, // of a mirror policy
}
