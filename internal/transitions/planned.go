package transitions

import (
	"context"
	"time"

	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"

	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/plan"
	"github.com/xdslint/xdslint/plan/apply"
)

// patience is the time to wait for an ACK. Envoy waits longer for missing endpoints (15 s), so a plan that lets Envoy wait without need fails.
const patience = 10 * time.Second

// planned returns a push with plan and apply, and the recorder that has to see its stream.
func planned(m Mode) (pusher, *recorder) {
	tracker := apply.NewTracker()
	return func(ctx context.Context, cache cachev3.SnapshotCache, before, after *cachev3.Snapshot) error {
		return apply.Run(ctx, cache, node, before, after, apply.Options{Tracker: tracker, Plan: plan.Options{
			Push: m.Push, AckTimeout: patience, DrainTime: envoytest.DrainTime,
		}})
	}, newRecorder(tracker)
}
