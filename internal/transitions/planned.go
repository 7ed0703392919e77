package transitions

import (
	"context"
	"time"

	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"

	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/plan"
	"github.com/xdslint/xdslint/plan/apply"
)

// patience with an ACK. It is less than Envoy's with endpoints that do not come (15 s), so a plan that lets Envoy wait for nothing fails.
const patience = 10 * time.Second

// planned is a push by plan and apply, and who has to watch the wire.
func planned(m Mode) (pusher, *recorder) {
	tracker := apply.NewTracker()
	return func(ctx context.Context, cache cachev3.SnapshotCache, before, after *cachev3.Snapshot) error {
		return apply.Run(ctx, cache, node, before, after, apply.Options{Tracker: tracker, Plan: plan.Options{
			Push: m.Push, AckTimeout: patience, DrainTime: envoytest.DrainTime,
		}})
	}, newRecorder(tracker)
}
