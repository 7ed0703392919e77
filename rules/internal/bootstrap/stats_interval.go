package bootstrap

import (
	"fmt"
	"time"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "stats-interval",
	Severity: lint.Error,
	Summary:  "the intervals for flushing and evicting stats do not fit together",
	Links:    []string{"StatsConfigImpl::StatsConfigImpl (source/server/configuration_impl.cc)"},
	Run: each(func(p *lint.Pass, at lint.At, b *bootstrapv3.Bootstrap) {
		_, onAdmin := b.GetStatsFlush().(*bootstrapv3.Bootstrap_StatsFlushOnAdmin)
		if onAdmin && b.GetStatsFlushInterval() != nil {
			p.Reject(at.Field("stats_flush_on_admin"), lint.Rejection{
				Message:  "stats_flush_on_admin cannot be combined with stats_flush_interval",
				Help:     "keep one of them",
				Upstream: "Only one of stats_flush_interval or stats_flush_on_admin should be set!",
				Related:  []lint.Related{lint.RelatedTo(at.Field("stats_flush_interval"), "the other one")},
			})
			return
		}
		flush, evict := int64(5000), milliseconds(b.GetStatsEvictionInterval())
		if b.GetStatsFlushInterval() != nil {
			flush = milliseconds(b.GetStatsFlushInterval())
		}
		if flush <= 0 || evict%flush == 0 { // an interval of 0 violates a constraint
			return
		}
		p.Reject(at.Field("stats_eviction_interval"), lint.Rejection{
			Message:  fmt.Sprintf("stats_eviction_interval is not a multiple of the %s between two flushes", time.Duration(flush)*time.Millisecond),
			Help:     "write a multiple of stats_flush_interval, which is 5s by default",
			Upstream: "stats_eviction_interval must be a multiple of stats_flush_interval",
		})
	}),
})

// milliseconds follows DurationUtil::durationToMilliseconds.
func milliseconds(d *durationpb.Duration) int64 {
	return d.GetSeconds()*1000 + int64(d.GetNanos())/1_000_000
}
