package cluster

import (
	"fmt"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/internal/dynamic"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/each"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "default-policies",
	Severity: lint.Error,
	Summary:  "the retries or mirrors that a cluster sets for all routes to it are invalid",
	Links: []string{
		"RetryPolicyImpl (source/common/router/retry_policy_impl.cc)",
		"validateMirrorClusterSpecifier (source/common/router/config_impl.cc)",
	},
	Run: each.Cluster(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		h, ok := envoy.UpstreamHTTPOf(at, c)
		if !ok || h.Typed == nil {
			return
		}
		options := proto.Message(h.Typed)
		if retry, ok := dynamic.Sub(options, "retry_policy").(*routev3.RetryPolicy); ok {
			checkBackOff(p, h.At.Field("retry_policy", "retry_back_off"), retry.GetRetryBackOff())
		}
		for i, item := range dynamic.Items(options, "request_mirror_policies") {
			if mirror, ok := item.Message().Interface().(*routev3.RouteAction_RequestMirrorPolicy); ok {
				checkMirror(p, h.At.Item("request_mirror_policies", i), mirror)
			}
		}
	}),
})

// checkBackOff rounds intervals as Envoy does: to whole milliseconds, at least one.
func checkBackOff(p *lint.Pass, at lint.At, backOff *routev3.RetryPolicy_RetryBackOff) {
	base, longest := backOff.GetBaseInterval().AsDuration(), backOff.GetMaxInterval().AsDuration()
	if base <= 0 || longest <= 0 || max(longest.Milliseconds(), 1) >= max(base.Milliseconds(), 1) {
		return // an interval that is not positive violates a constraint
	}
	p.Reject(at.Field("max_interval"), lint.Rejection{
		Message:  fmt.Sprintf("max_interval %s is shorter than base_interval %s", longest, base),
		Help:     fmt.Sprintf("write a max_interval of at least %s, or remove it to use ten times the base_interval", base),
		Upstream: "retry_policy.max_interval must greater than or equal to the base_interval",
		Related:  []lint.Related{lint.RelatedTo(at.Field("base_interval"), "the base_interval")},
	})
}

func checkMirror(p *lint.Pass, at lint.At, m *routev3.RouteAction_RequestMirrorPolicy) {
	switch {
	case m.GetCluster() == "" && m.GetClusterHeader() == "":
		p.Reject(at, lint.Rejection{
			Message:  "the mirror policy does not name a cluster",
			Help:     "write cluster, or cluster_header for a request header that names it",
			Upstream: "Exactly one of cluster or cluster_header in request mirror policy need to be specified",
		})
	case m.GetCluster() != "" && m.GetClusterHeader() != "":
		p.Reject(at.Field("cluster_header"), lint.Rejection{
			Message: "a mirror policy has either cluster or cluster_header",
			Help:    "keep one of them",
			Upstream: fmt.Sprintf("Only one of cluster '%s' or cluster_header '%s' in request mirror policy can be specified",
				m.GetCluster(), m.GetClusterHeader()),
		})
	}
}
