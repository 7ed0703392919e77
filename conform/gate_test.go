package conform_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/envoyproxy/go-control-plane/pkg/cache/v3"

	"github.com/xdslint/xdslint/admission"
	"github.com/xdslint/xdslint/conform"
	"github.com/xdslint/xdslint/internal/reference"
	"github.com/xdslint/xdslint/internal/servers/caches"
	"github.com/xdslint/xdslint/plan"
	"github.com/xdslint/xdslint/plan/apply"
	"github.com/xdslint/xdslint/rules"
)

// gated returns a control plane that is made of the gate and apply.Run.
func gated(t *testing.T) (caches.Cache, *apply.Tracker) {
	t.Helper()
	under, tracker := caches.NewSnapshotCache(true), apply.NewTracker()
	gate, err := admission.New(under, admission.Options{
		Rules: rules.Builtin(),
		Push: func(ctx context.Context, node string, s cache.ResourceSnapshot) error {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(t.Context(), cancel)() // what no client answers any longer
			return apply.Run(ctx, under, node, nil, s, apply.Options{Tracker: tracker, Plan: plan.Options{DrainTime: time.Millisecond}})
		},
		// Clients that do not answer, or that name only a part, keep a push waiting: the next one takes its place.
		Pushed: func(string, error) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	return caches.Of(gate, nil), tracker
}

// advice are the clauses of level advice that a SnapshotCache breaks. It has one version for a type: a client that asks for some of its names gets
// a new one when others change. Over Delta, it sends nothing that has not changed and is not asked for.
var advice = []string{"protocol/new-version-same-content", "protocol/warming-without-endpoints"}

// TestGate: a control plane that is made of the gate and apply.Run keeps every clause but those. What clients reject is withdrawn, and a push waits
// for clients that do not request what their clusters refer to, or that name only a part, so some changes are not served.
func TestGate(t *testing.T) {
	overEach(t, "", func(t *testing.T, transport string) {
		served, tracker := gated(t)
		reference.Fill(served)
		report, err := conform.Run(t.Context(), serveCache(t, served, tracker), conform.Options{Node: edge, Change: reference.Changer(served)}.Only(transport))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range report.Clauses {
			if c.Status == conform.Broken && !slices.Contains(advice, c.Clause) {
				t.Errorf("%s\n%s", c, c.Evidence[0].Recorded)
			}
		}
	})
}
