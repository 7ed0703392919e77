package conform_test

import (
	"context"
	"testing"
	"time"

	"github.com/envoyproxy/go-control-plane/pkg/cache/v3"

	"github.com/xdslint/xdslint/admission"
	"github.com/xdslint/xdslint/conform"
	"github.com/xdslint/xdslint/internal/reference"
	"github.com/xdslint/xdslint/plan"
	"github.com/xdslint/xdslint/plan/apply"
	"github.com/xdslint/xdslint/rules"
)

// gated returns a control plane that is made of the gate and apply.Run.
func gated(t *testing.T) (*snapshots, *apply.Tracker) {
	t.Helper()
	under, tracker := newCache(true), apply.NewTracker()
	gate, err := admission.New(under, admission.Options{
		Rules: rules.Builtin(),
		Push: func(ctx context.Context, node string, s cache.ResourceSnapshot) error {
			return apply.Run(ctx, under, node, nil, s, apply.Options{Tracker: tracker, Plan: plan.Options{DrainTime: time.Millisecond}})
		},
		// Clients that do not answer, or that name only a part, keep a push waiting: the next one takes its place.
		Pushed: func(string, error) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	return newSnapshots(gate, nil), tracker
}

// TestGate: a control plane that is made of the gate and apply.Run keeps every clause but one of advice. What clients reject is withdrawn, so
// some changes are not served.
func TestGate(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits after each change until the server is silent")
	}
	for _, transport := range transports {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			served, tracker := gated(t)
			reference.Fill(served)
			report, err := conform.Run(t.Context(), serveCache(t, served, tracker), conform.Options{
				Node: edge, Wait: 20 * time.Second, Change: reference.Changer(served),
			}.Only(transport))
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range report.Clauses {
				// A SnapshotCache has one version for a type: who asks for some of its names gets a new one when others change.
				if c.Status == conform.Broken && c.Clause != "protocol/new-version-same-content" {
					t.Errorf("%s\n%s", c, c.Evidence[0].Recorded)
				}
			}
		})
	}
}
