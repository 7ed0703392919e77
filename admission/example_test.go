package admission_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"
	serverv3 "github.com/envoyproxy/go-control-plane/pkg/server/v3"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/xdslint/xdslint/admission"
	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/plan"
	"github.com/xdslint/xdslint/plan/apply"
	"github.com/xdslint/xdslint/rules"
)

// A gate replaces the cache. It withholds what is new and broken, and pushes the rest.
func ExampleNew() {
	ctx := context.Background()
	gate, err := admission.New(cachev3.NewSnapshotCache(true, cachev3.IDHash{}, nil), admission.Options{
		Rules:  rules.Builtin(),
		Policy: admission.Quarantine,
		Report: func(d admission.Decision) {
			fmt.Println(d.Outcome)
			for _, w := range d.Withheld {
				fmt.Println(" ", w)
			}
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = serverv3.NewServer(ctx, gate, nil) // register it as before

	clusters := func(version string, timeouts map[string]time.Duration) *cachev3.Snapshot {
		var all []types.Resource
		for name, timeout := range timeouts {
			all = append(all, &clusterv3.Cluster{Name: name, ConnectTimeout: durationpb.New(timeout)})
		}
		s, err := cachev3.NewSnapshot(version, map[resource.Type][]types.Resource{resource.ClusterType: all})
		if err != nil {
			panic(err)
		}
		return s
	}
	for _, s := range []*cachev3.Snapshot{
		clusters("v1", map[string]time.Duration{"cart": time.Second}),
		clusters("v2", map[string]time.Duration{"cart": 0, "shop": 2 * time.Second}),
	} {
		err := gate.SetSnapshot(ctx, "edge-1", s)
		var blocked *admission.BlockedError
		switch {
		case errors.As(err, &blocked): // nothing was pushed; blocked.Decision.New has the reasons
		case err != nil: // the push failed
			fmt.Println(err)
		}
	}
	held, err := gate.GetSnapshot("edge-1")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(held.GetResources(resource.ClusterType)), "clusters")
	// Output:
	// admitted
	// quarantined
	//   cluster "cart" keeps its version: connect_timeout must be greater than 0s [schema/constraint]
	// 2 clusters
}

// With plan and plan/apply, a snapshot is pushed in phases that break nothing. Hazards that no order of phases avoids count as errors.
func ExampleOptions() {
	cache := cachev3.NewSnapshotCache(true, cachev3.IDHash{}, nil)
	tracker := apply.NewTracker() // pass it to the server of the cache as its callbacks
	gate, err := admission.New(cache, admission.Options{
		Rules:  rules.Builtin(),
		Policy: admission.Quarantine,
		Hazards: func(before, after *graph.Snapshot) *lint.Result {
			return plan.Make(graph.Diff(before, after), plan.Options{}).Remaining(context.Background(), dataplane.Default())
		},
		Push: func(ctx context.Context, node string, s cachev3.ResourceSnapshot) error {
			return apply.Run(ctx, cache, node, nil, s, apply.Options{Tracker: tracker})
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := cachev3.NewSnapshot("v1", map[resource.Type][]types.Resource{resource.ClusterType: {&clusterv3.Cluster{Name: "cart"}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = gate.SetSnapshot(context.Background(), "edge-1", s)
	if errors.Is(err, admission.ErrSuperseded) || errors.Is(err, apply.ErrSuperseded) {
		err = nil // a newer snapshot is pushed instead
	}
	fmt.Println(err)
	// Output: <nil>
}
