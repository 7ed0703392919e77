package admission_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"pgregory.net/rapid"

	"github.com/xdslint/xdslint/admission"
	"github.com/xdslint/xdslint/rules"
)

// TestFleet: a gate that serves several nodes, and shares what it knows about their resources, decides about each push as a gate for one node.
func TestFleet(t *testing.T) {
	boot := bootstrap(t)
	rapid.Check(t, func(t *rapid.T) {
		gate := func() (cachev3.SnapshotCache, *admission.Gate, *admission.Decision) {
			cache, last := cachev3.NewSnapshotCache(true, cachev3.IDHash{}, nil), &admission.Decision{}
			gate, err := admission.New(cache, admission.Options{
				Rules: rules.Builtin(), Bootstrap: boot, Policy: admission.Quarantine, Deadline: time.Hour,
				Report: func(d admission.Decision) { *last = d },
			})
			if err != nil {
				t.Fatal(err)
			}
			return cache, gate, last
		}
		type push struct {
			version   string
			resources []types.Resource
			snapshot  *cachev3.Snapshot
		}
		type one struct {
			cachev3.SnapshotCache
			gate    *admission.Gate
			decided *admission.Decision
		}
		cache, fleet, decided := gate()
		alone := map[string]one{}
		var pushed []push
		for i := range rapid.IntRange(2, 8).Draw(t, "pushes") {
			node := fmt.Sprintf("edge-%d", rapid.IntRange(0, 2).Draw(t, "node"))
			var next push
			if len(pushed) > 0 && rapid.Bool().Draw(t, "known") {
				next = pushed[rapid.IntRange(0, len(pushed)-1).Draw(t, "which")]
				if rapid.Bool().Draw(t, "copied") {
					copied := *next.snapshot
					next.snapshot = &copied
				}
			} else {
				next = push{version: fmt.Sprintf("v%d", i), resources: world(t, "next")}
				next.snapshot = made(t, next.version, next.resources)
				pushed = append(pushed, next)
			}
			if alone[node].gate == nil {
				cache, gate, decided := gate()
				alone[node] = one{cache, gate, decided}
			}
			errAlone := alone[node].gate.SetSnapshot(context.Background(), node, made(t, next.version, next.resources))
			err := fleet.SetSnapshot(context.Background(), node, next.snapshot)
			want := alone[node].decided
			if (err != nil) != (errAlone != nil) || decided.Outcome != want.Outcome || decided.Known != want.Known ||
				!slices.Equal(findings(*decided), findings(*want)) || !slices.Equal(decided.Withheld, want.Withheld) {
				t.Fatalf("%s: %s %v %v %v, alone %s %v %v %v", node, decided.Outcome, findings(*decided), decided.Withheld, err,
					want.Outcome, findings(*want), want.Withheld, errAlone)
			}
			a, _ := cache.GetSnapshot(node)
			b, _ := alone[node].GetSnapshot(node)
			if (a == nil) != (b == nil) || a != nil && !same(content(a), content(b)) {
				t.Fatal("another snapshot is served")
			}
		}
	})
}
