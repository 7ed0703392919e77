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
	cache := cachev3.NewSnapshotCache(true, cachev3.IDHash{}, nil)
	tracker := apply.NewTracker()
	server := grpc.NewServer()
	discoveryservice.RegisterAggregatedDiscoveryServiceServer(server, serverv3.NewServer(ctx, cache, tracker))
	// go server.Serve(listener)

	options := apply.Options{
		Tracker: tracker,
		Plan:    plan.Options{AckTimeout: 10 * time.Millisecond, DrainTime: time.Minute},
		Progress: func(e apply.Event) {
			if e.Step == apply.Begun {
				fmt.Printf("%s: phase %d of %d\n", e.Node, e.Phase, len(e.Plan.Phases))
			}
		},
	}
	for _, next := range []*cachev3.Snapshot{snapshot("v1", "cart"), snapshot("v2", "cart", "checkout")} {
		err := apply.Run(ctx, cache, "edge-1", nil, next, options)
		var late *apply.TimeoutError
		var nack *apply.NackError
		switch {
		case errors.Is(err, apply.ErrSuperseded): // a Run with a newer snapshot has taken over
		case errors.As(err, &late), errors.As(err, &nack): // the cache holds what Envoy accepted before
			fmt.Println(err)
		}
	}
	// Output:
	// edge-1: phase 1 of 1
	// edge-1: phase 1 of 1
	// node "edge-1", phase 1 of 1: no ACK of cluster "checkout" within 10ms: no Envoy of this node is connected
}
