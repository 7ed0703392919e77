package reference

import (
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "ratelimit-unknown-cluster",
	Severity: lint.Warning,
	Summary:  "the cluster of a rate limit service does not exist",
	Links:    []string{"RateLimit::rateLimitClient (source/extensions/filters/common/ratelimit/ratelimit_impl.cc)"},
	Run:      clusterRule(envoy.RateLimitCluster, "Envoy accepts it and does not limit requests, unless failure_mode_deny is set"),
})
