package route

import (
	"fmt"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "mirror-oneof",
	Severity: lint.Error,
	Summary:  "a mirror policy names its cluster in two ways, or not at all",
	Links:    []string{"validateMirrorClusterSpecifier (source/common/router/config_impl.cc)"},
	Run: lint.Each(func(p *lint.Pass, at lint.At, m *routev3.RouteAction_RequestMirrorPolicy) {
		if (m.GetCluster() == "") != (m.GetClusterHeader() == "") {
			return
		}
		switch holder(at) {
		case "envoy.config.route.v3.RouteAction.request_mirror_policies", "envoy.config.route.v3.VirtualHost.request_mirror_policies",
			"envoy.config.route.v3.RouteConfiguration.request_mirror_policies":
		default:
			return
		}
		if _, ok := tableOf(p, at); !ok {
			return
		}
		if m.GetCluster() == "" {
			p.Reject(at.Key(), lint.Rejection{
				Message:  "the mirror policy does not name a cluster",
				Help:     "write cluster, or cluster_header for a request header that names it",
				Upstream: "Exactly one of cluster or cluster_header in request mirror policy need to be specified",
			})
			return
		}
		p.Reject(at.Field("cluster_header"), lint.Rejection{
			Message: "a mirror policy has either cluster or cluster_header",
			Help:    "keep one of them",
			Upstream: fmt.Sprintf("Only one of cluster '%s' or cluster_header '%s' in request mirror policy can be specified",
				m.GetCluster(), m.GetClusterHeader()),
			Related: []lint.Related{lint.RelatedTo(at.Field("cluster"), "the cluster")},
		})
	}),
})
