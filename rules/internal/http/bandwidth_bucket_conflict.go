package http

import (
	"fmt"

	bandwidthv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/bandwidth_share/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "bandwidth-bucket-conflict",
	Severity: lint.Error,
	Summary:  "two limits of bandwidth_share have the same bucket and other settings",
	Links:    []string{"TokenBucketSingleton::setBucket (source/extensions/filters/http/bandwidth_share/token_bucket_singleton.cc)"},
	Run: lint.ForSnapshot(func(p *lint.Pass) {
		first := map[string]bucket{}
		for _, place := range p.Snapshot.Places("envoy.extensions.filters.http.bandwidth_share.v3.BandwidthShare") {
			if built, _ := envoy.Validated(p.Target.Extensions(), place); !built {
				continue
			}
			for _, b := range bucketsOf(place) {
				before, known := first[b.id]
				if !known {
					first[b.id] = b
				} else if field, differ := before.differs(b); differ {
					b.reject(p, field, before)
				}
			}
		}
	}),
})

// bucket is what a filter says about a bucket, which all filters of Envoy share by its name.
type bucket struct {
	at          lint.At // of the limit
	id, runtime string
	kbps        uint32
	millis      int64 // of the fill interval
}

// bucketsOf returns the buckets of a filter in the order in which Envoy makes them.
func bucketsOf(place *graph.Place) (all []bucket) {
	m, ok := place.Message.Interface().(*bandwidthv3.BandwidthShare)
	if !ok {
		return nil
	}
	millis := int64(50)
	if m.GetFillInterval() != nil {
		millis = m.GetFillInterval().AsDuration().Milliseconds()
	}
	add := func(field string, l *bandwidthv3.BandwidthShare_Limit) {
		if l != nil {
			all = append(all, bucket{place.At().Field(field), l.GetBucketId(), l.GetKbps().GetRuntimeKey(), l.GetKbps().GetDefaultValue(), millis})
		}
	}
	add("request_limit", m.GetRequestLimit())
	add("response_limit", m.GetResponseLimit())
	return all
}

// differs reports whether two buckets have other settings, and in what.
func (b bucket) differs(other bucket) (what string, differ bool) {
	switch {
	case b.runtime != other.runtime:
		return "runtime config key", true
	case b.kbps != other.kbps:
		return "default value", true
	}
	return "fill_interval", b.millis != other.millis
}

func (b bucket) reject(p *lint.Pass, what string, before bucket) {
	p.Reject(b.at.Field("bucket_id"), lint.Rejection{
		Message:  fmt.Sprintf("the bucket %q has another %s elsewhere", b.id, what),
		Help:     "write the same kbps and fill_interval wherever this bucket_id is, or another bucket_id",
		Upstream: fmt.Sprintf("bandwidth_share bucket %s attempted configuration with mismatched %s", b.id, what),
		Related:  []lint.Related{lint.RelatedTo(before.at.Field("bucket_id"), "the first one")},
	})
}
