package http

import (
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	commonv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/common/ratelimit/v3"
	localratelimitv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/local_ratelimit/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "local-ratelimit-unfit",
	Severity: lint.Error,
	Summary:  "a local rate limit fills a bucket too often, or has two buckets for one descriptor",
	Links: []string{
		"FilterConfig::FilterConfig (source/extensions/filters/http/local_ratelimit/local_ratelimit.cc)",
		"LocalRateLimiterImpl::LocalRateLimiterImpl (source/extensions/filters/common/local_ratelimit/local_ratelimit_impl.cc)",
	},
	Run: eachConfig(func(p *lint.Pass, at lint.At, m *localratelimitv3.LocalRateLimit) {
		if m.GetTokenBucket() == nil && perRoute(at) {
			p.Reject(at, lint.Rejection{
				Message:  "the local rate limit of a route does not have a token_bucket",
				Help:     "add token_bucket",
				Upstream: "local rate limit token bucket must be set for per filter configs",
			})
		}
		if interval := m.GetTokenBucket().GetFillInterval(); tooOften(interval) && interval.AsDuration() >= time.Millisecond {
			rejectInterval(p, at, "local rate limit token bucket fill timer must be >= 50ms")
		}
		checkDescriptors(p, at, m.GetDescriptors())
		checkShares(p, at, m)
	}),
})

// tooOften reports whether a bucket fills more often than Envoy allows.
func tooOften(interval *durationpb.Duration) bool {
	return interval != nil && interval.AsDuration() < 50*time.Millisecond
}

func rejectInterval(p *lint.Pass, at lint.At, upstream string) {
	p.Reject(at.Field("token_bucket", "fill_interval"), lint.Rejection{
		Message:  "the bucket fills more often than every 50 ms",
		Help:     "write a fill_interval of at least 0.050s, and more tokens_per_fill",
		Upstream: upstream,
	})
}

func checkDescriptors(p *lint.Pass, at lint.At, descriptors []*commonv3.LocalRateLimitDescriptor) {
	seen := map[string]int{}
	for i, d := range descriptors {
		own := at.Item("descriptors", i)
		if tooOften(d.GetTokenBucket().GetFillInterval()) {
			rejectInterval(p, own, "local rate limit descriptor token bucket fill timer must be >= 50ms")
		}
		text := entriesOf(d)
		before, twice := seen[text]
		if !twice {
			seen[text] = i
			continue
		}
		p.Reject(own.Field("entries").Key(), lint.Rejection{
			Message:  "two buckets have the same descriptor",
			Help:     "remove one of them",
			Upstream: "duplicate descriptor in the local rate descriptor",
			Related:  []lint.Related{lint.RelatedTo(at.Item("descriptors", before).Field("entries").Key(), "the first one")},
		})
	}
}

// entriesOf returns a text that is the same for the same entries in the same order.
func entriesOf(d *commonv3.LocalRateLimitDescriptor) string {
	var b strings.Builder
	for _, e := range d.GetEntries() {
		b.WriteString(e.GetKey() + "\x00" + e.GetValue() + "\x00")
	}
	return b.String()
}

// checkShares reports a limit for the local cluster that Envoy cannot share.
func checkShares(p *lint.Pass, at lint.At, m *localratelimitv3.LocalRateLimit) {
	if m.GetLocalClusterRateLimit() == nil {
		return
	}
	own := at.Field("local_cluster_rate_limit").Key()
	if m.GetLocalRateLimitPerDownstreamConnection() {
		p.Reject(own, lint.Rejection{
			Message:  "local_cluster_rate_limit cannot be combined with local_rate_limit_per_downstream_connection",
			Help:     "keep one of them",
			Upstream: "local_cluster_rate_limit is set and local_rate_limit_per_downstream_connection is set to true",
		})
		return
	}
	if b, _ := p.Snapshot.Bootstrap(); b != nil && b.GetClusterManager().GetLocalClusterName() == "" {
		p.Reject(own, lint.Rejection{
			Message:  "the limit is for the local cluster, but the bootstrap does not name one",
			Help:     "write cluster_manager: {local_cluster_name: NAME} into the bootstrap",
			Upstream: "local_cluster_rate_limit is set but no local cluster name is present",
		})
	}
}
