package route

import (
	"slices"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "retry-grpc-token",
	Severity: lint.Warning,
	Summary:  "retry_on has only conditions about gRPC, and the cluster does not speak HTTP/2",
	Links: []string{
		"RetryStateImpl::wouldRetryFromHeaders (source/common/router/retry_state_impl.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_filters/router_filter#x-envoy-retry-grpc-on",
	},
	Run: eachRetrying(func(p *lint.Pass, r retrying) {
		conditions := envoy.RetryOn(r.policy)
		if len(conditions) == 0 || slices.ContainsFunc(conditions, func(token string) bool { return !slices.Contains(envoy.RetryGRPC, token) }) {
			return
		}
		all, known := upstreamsOf(p, r.route.GetRoute())
		for _, u := range all {
			h, ok := envoy.UpstreamHTTPOf(u.at, u.cluster)
			known = known && ok && h.HTTP1Only(u.cluster)
		}
		if !known {
			return
		}
		p.Report(r.place("retry_on"), lint.Diagnostic{
			Message: "no answer of this cluster is retried",
			Notes:   []string{"these conditions are about the header grpc-status, which only gRPC servers send, over HTTP/2; unavailable does not mean 503"},
			Help:    "write the conditions for HTTP, such as gateway-error,connect-failure,reset",
			Related: []lint.Related{lint.RelatedTo(all[0].at, "the cluster")},
		})
	}),
})
