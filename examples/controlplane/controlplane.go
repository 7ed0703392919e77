// Package controlplane is an example of a control plane that takes its Envoys from one configuration to the next without a failed request.
//
// It serves a directory: DIRECTORY/NODE/*.yaml contains the xDS resources of the Envoys whose node id is NODE. When the files of a node change,
// it lints them. It rejects files with errors, and gives the others to an admission.Gate, which pushes them with plan/apply and answers Envoys as
// the xDS protocol says.
//
//	go run -tags example ./examples/controlplane/main -listen 127.0.0.1:18000 DIRECTORY
package controlplane

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	clusterservice "github.com/envoyproxy/go-control-plane/envoy/service/cluster/v3"
	discoveryservice "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	endpointservice "github.com/envoyproxy/go-control-plane/envoy/service/endpoint/v3"
	listenerservice "github.com/envoyproxy/go-control-plane/envoy/service/listener/v3"
	routeservice "github.com/envoyproxy/go-control-plane/envoy/service/route/v3"
	secretservice "github.com/envoyproxy/go-control-plane/envoy/service/secret/v3"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	serverv3 "github.com/envoyproxy/go-control-plane/pkg/server/v3"
	"google.golang.org/grpc"

	"github.com/xdslint/xdslint/admission"
	"github.com/xdslint/xdslint/plan"
	"github.com/xdslint/xdslint/plan/apply"
	"github.com/xdslint/xdslint/rules"
)

// ControlPlane serves one directory.
type ControlPlane struct {
	// DrainTime is the --drain-time-s of the Envoys; 0 means Envoy's default of 600 s.
	DrainTime time.Duration

	directory string
	log       *slog.Logger
	cache     cachev3.SnapshotCache
	gate      *admission.Gate
	tracker   *apply.Tracker

	known  map[string]string // node → the last version that was read
	giveUp map[string]func() // node → stops the push of that version
	pushes sync.WaitGroup
}

// New returns a control plane for a directory.
func New(directory string, log *slog.Logger) (*ControlPlane, error) {
	c := &ControlPlane{
		directory: directory,
		log:       log,
		cache:     cachev3.NewSnapshotCache(true, cachev3.IDHash{}, nil), // true: over ADS
		tracker:   apply.NewTracker(),
		known:     map[string]string{},
		giveUp:    map[string]func(){},
	}
	var err error
	c.gate, err = admission.New(c.cache, admission.Options{Rules: rules.Builtin(), Policy: admission.Block, Push: c.apply})
	return c, err
}

// poll is the interval at which the files are read.
const poll = 500 * time.Millisecond

// Serve answers Envoys and pushes changes until ctx ends.
func (c *ControlPlane) Serve(ctx context.Context, l net.Listener) error {
	server := grpc.NewServer()
	// By the tracker, plan/apply knows what Envoy has ACKed. Set its field Callbacks to add your own callbacks.
	xds := serverv3.NewServer(ctx, c.gate, c.tracker)
	discoveryservice.RegisterAggregatedDiscoveryServiceServer(server, xds)
	clusterservice.RegisterClusterDiscoveryServiceServer(server, xds)
	endpointservice.RegisterEndpointDiscoveryServiceServer(server, xds)
	listenerservice.RegisterListenerDiscoveryServiceServer(server, xds)
	routeservice.RegisterRouteDiscoveryServiceServer(server, xds)
	secretservice.RegisterSecretDiscoveryServiceServer(server, xds)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	defer c.pushes.Wait()
	defer server.Stop()

	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		c.look(ctx)
		select {
		case <-tick.C:
		case err := <-failed:
			return err
		case <-ctx.Done():
			return nil
		}
	}
}

// look pushes to each node whose files have changed.
func (c *ControlPlane) look(ctx context.Context) {
	folders, err := os.ReadDir(c.directory)
	if err != nil {
		c.log.Error("the directory cannot be read", "error", err)
		return
	}
	for _, folder := range folders {
		if !folder.IsDir() {
			continue
		}
		node := folder.Name()
		snapshot, version, err := read(ctx, filepath.Join(c.directory, node))
		if version == c.known[node] {
			continue
		}
		c.known[node] = version
		if err != nil {
			c.log.Error("not pushed", "node", node, "error", err)
			continue
		}
		// The files may change while a push waits for Envoy. The next push then takes over from it.
		// Cancel the context of the first one, so that it does not try again.
		if giveUp := c.giveUp[node]; giveUp != nil {
			giveUp()
		}
		trying, giveUp := context.WithCancel(ctx)
		c.giveUp[node] = giveUp
		c.pushes.Go(func() { c.push(trying, node, snapshot) })
	}
}

// push returns when all of the node's Envoys have the snapshot, or one of them rejects it. If none is connected, or they do not answer in time, it
// tries again.
func (c *ControlPlane) push(ctx context.Context, node string, snapshot *cachev3.Snapshot) {
	log := c.log.With("node", node, "version", snapshot.GetVersion(listeners))
	for {
		err := c.gate.SetSnapshot(ctx, node, snapshot)
		var late *apply.TimeoutError
		switch {
		case ctx.Err() != nil: // superseded
			return
		case errors.As(err, &late):
			log.Warn("not pushed yet, trying again", "error", err)
			continue
		case err != nil: // the cache holds the last state that worked; the next change of the files is pushed again
			log.Error("push failed", "error", err)
		default:
			log.Info("pushed")
		}
		return
	}
}

// apply is how the gate pushes.
func (c *ControlPlane) apply(ctx context.Context, node string, snapshot cachev3.ResourceSnapshot) error {
	log := c.log.With("node", node, "version", snapshot.GetVersion(listeners))
	return apply.Run(ctx, c.cache, node, nil, snapshot, apply.Options{
		Tracker: c.tracker,
		Plan:    plan.Options{DrainTime: c.DrainTime},
		Progress: func(e apply.Event) {
			switch e.Step {
			case apply.Begun:
				log.Info("phase", "number", e.Phase, "of", len(e.Plan.Phases), "why", e.Plan.Phases[e.Phase-1].Why)
			case apply.Waiting:
				log.Info("waiting", "for", e.Wait.For, "kind", e.Wait.Kind, "names", e.Wait.Names)
			}
		},
	})
}
