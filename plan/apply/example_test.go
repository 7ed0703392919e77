package apply_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	discoveryservice "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"
	serverv3 "github.com/envoyproxy/go-control-plane/pkg/server/v3"
	"google.golang.org/grpc"

	"github.com/xdslint/xdslint/plan"
	"github.com/xdslint/xdslint/plan/apply"
)

func snapshot(version string, clusters ...string) *cachev3.Snapshot {
	var all []types.Resource
	for _, name := range clusters {
		all = append(all, &clusterv3.Cluster{Name: name})
	}
	s, err := cachev3.NewSnapshot(version, map[resource.Type][]types.Resource{resource.ClusterType: all})
	if err != nil {
		panic(err)
	}
	return s
}

// A control plane calls Run where it called SetSnapshot. In this one no Envoy ever connects.
func ExampleRun() {
	ctx := context.Background()
	cache, tracker := serve(ctx)
	options := apply.Options{
		Tracker: tracker,
		Plan:    plan.Options{AckTimeout: 10 * time.Millisecond, DrainTime: time.Minute},
		Progress: func(e apply.Event) {
			if e.Step == apply.Begun {
				fmt.Printf("%s: phase %d of %d: %s\n", e.Node, e.Phase, len(e.Plan.Phases), e.Plan.Phases[e.Phase-1].Why)
			}
		},
	}
	for _, next := range []*cachev3.Snapshot{snapshot("v1", "cart"), snapshot("v2", "cart", "checkout")} {
		err := apply.Run(ctx, cache, "edge-1", nil, next, options)
		var late *apply.TimeoutError
		var nack *apply.NackError
		switch {
		case errors.Is(err, apply.ErrSuperseded): // a push of a newer snapshot has taken over
		case errors.As(err, &late), errors.As(err, &nack): // the cache holds what Envoy accepted before
			fmt.Println(err)
		}
	}
	// Output:
	// edge-1: phase 1 of 1: The node has no resources yet, so nothing can break.
	// edge-1: phase 1 of 1: One push: no change has to come before another one.
	// node "edge-1", phase 1 of 1: no ACK of cluster "checkout" within 10ms: no Envoy of this node is connected
}

// The last push that begins wins. What both do happens in the background.
func ExampleBegin() {
	ctx := context.Background()
	cache, tracker := serve(ctx)
	options := apply.Options{Tracker: tracker}
	first := apply.Begin(ctx, cache, "edge-1", nil, snapshot("v1", "cart"), options)
	if err := first.Wait(); err != nil { // returns at once, since no Envoy is connected
		fmt.Println(err)
	}
	older := apply.Begin(ctx, cache, "edge-1", nil, snapshot("v2", "cart", "checkout"), options)
	newer := apply.Begin(ctx, cache, "edge-1", nil, snapshot("v3", "cart"), options)
	fmt.Println(older.Wait())
	fmt.Println(newer.Wait())
	// Output:
	// a newer snapshot for the same node has taken over
	// <nil>
}

// A control plane keeps what it is about to send. After a crash it gives the last one as before, and Envoys get from there to the next
// snapshot, whatever part of a phase they had.
func ExampleEvent() {
	ctx := context.Background()
	kept := map[string]cachev3.ResourceSnapshot{} // in a file or a database, for example
	keep := func(e apply.Event) {
		if e.Snapshot != nil {
			kept[e.Node] = e.Snapshot
		}
	}
	cache, tracker := serve(ctx)
	err := apply.Run(ctx, cache, "edge-1", nil, snapshot("v1", "cart"), apply.Options{Tracker: tracker, Progress: keep})
	fmt.Println(err)

	cache, tracker = serve(ctx) // another process
	err = apply.Run(ctx, cache, "edge-1", kept["edge-1"], snapshot("v2", "cart", "checkout"), apply.Options{
		Tracker: tracker, Progress: keep, Plan: plan.Options{AckTimeout: 10 * time.Millisecond},
	})
	fmt.Println(err)
	// Output:
	// <nil>
	// node "edge-1", phase 1 of 1: no ACK of cluster "cart" within 10ms: no Envoy of this node is connected
}

// serve starts a control plane.
func serve(ctx context.Context) (cachev3.SnapshotCache, *apply.Tracker) {
	cache := cachev3.NewSnapshotCache(true, cachev3.IDHash{}, nil)
	tracker := apply.NewTracker()
	server := grpc.NewServer()
	discoveryservice.RegisterAggregatedDiscoveryServiceServer(server, serverv3.NewServer(ctx, cache, tracker))
	// go server.Serve(listener)
	return cache, tracker
}
