package health

import (
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/each"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "grpc-hc-http2",
	Severity: lint.Error,
	Summary:  "a cluster has a gRPC health check, but does not use HTTP/2",
	Links:    []string{"HealthCheckerFactory::create (source/common/upstream/health_checker_impl.cc)"},
	Run: each.Cluster(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		h, ok := envoy.UpstreamHTTPOf(at, c)
		if !ok || h.HTTP2(c) {
			return
		}
		for i, check := range c.GetHealthChecks() {
			if check.GetGrpcHealthCheck() != nil {
				p.Reject(at.Item("health_checks", i).Field("grpc_health_check").Key(), lint.Rejection{
					Message:  "a gRPC health check needs HTTP/2, but the cluster does not use it",
					Help:     "add HttpProtocolOptions with explicit_http_config: {http2_protocol_options: {}} to the cluster's typed_extension_protocol_options",
					Upstream: "cluster must support HTTP/2 for gRPC healthchecking",
				})
			}
		}
	}),
})
