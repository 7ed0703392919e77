package transitions

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"

	"github.com/xdslint/xdslint/admission"
	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/plan"
)

// TestGateWithPlan pushes good snapshots whose transition breaks traffic. A gate that checks hazards withholds such a push. With a driver that follows a
// plan, only what the plan cannot avoid is a hazard, and the push goes through without a failed request.
func TestGateWithPlan(t *testing.T) {
	envoytest.Need(t)
	var jobs []Job
	for name, transport := range map[string]lint.Transport{"blue-green": lint.ADSSotW, "route-to-health-checked-cluster": lint.ADSDelta} {
		c, err := readCase(t.Context(), filepath.Join("../../testdata/transitions", name))
		if err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, Job{c, Mode{Planned: true, Push: lint.Push{Transport: transport}, RTT: FarRTT, Rate: SmallRate}, throughPlan})
	}
	for _, o := range Bench(t.Context(), jobs, envoys, nil) {
		t.Run(o.Case.Name, func(t *testing.T) {
			t.Log(o.Result)
			if o.Err != nil {
				t.Error(o.Err)
			}
		})
	}
}

func throughPlan(ctx context.Context, c *Case, m Mode) (*Result, error) {
	push, wire := planned(m)
	r, err := open(ctx, c, m, wire)
	if err != nil {
		return nil, err
	}
	defer r.close()
	plain, err := r.gate(ctx, admission.Options{Policy: admission.Block, Hazards: func(before, after *graph.Snapshot) *lint.Result {
		return plan.Hazards(ctx, graph.Diff(before, after), m.Push, dataplane.Default())
	}})
	if err != nil {
		return nil, err
	}
	driven, err := r.gate(ctx, admission.Options{
		Policy: admission.Block,
		Hazards: func(before, after *graph.Snapshot) *lint.Result {
			return plan.Make(graph.Diff(before, after), plan.Options{Push: m.Push}).Remaining(ctx, dataplane.Default())
		},
		Push: func(ctx context.Context, _ string, snapshot cachev3.ResourceSnapshot) error {
			return push(ctx, r.cp.cache, r.before.pushed, snapshot.(*cachev3.Snapshot))
		},
	})
	if err != nil {
		return nil, err
	}
	result, err := r.transit(ctx, targets(r.before, r.after, c.Follow), func() error {
		var blocked *admission.BlockedError
		if err := plain.SetSnapshot(ctx, node, r.after.pushed); !errors.As(err, &blocked) {
			return fmt.Errorf("a gate that looks for hazards returns %v", err)
		}
		return driven.SetSnapshot(ctx, node, r.after.pushed)
	})
	return result, errors.Join(err, harm(result))
}
