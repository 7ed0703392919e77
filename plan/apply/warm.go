package apply

import (
	"context"
	"errors"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/plan"
)

var errWarm = errors.New("warm by now")

// heat records how long the first health checks of a phase's clusters can take from now on.
func (r *run) heat(phase plan.Phase) {
	until := time.Now().Add(firstChecks(phase))
	r.lock(func(n *node) {
		if until.After(n.warm) {
			n.warm = until
		}
	})
}

// warmed waits for the first health checks of new and changed clusters where no ACK shows their end. Envoy delays the ACK of warming clusters
// only on an aggregated stream (ClusterManagerImpl::updateClusterCounts pauses only that one).
func (r *run) warmed(ctx context.Context) error {
	var left time.Duration
	r.lock(func(n *node) {
		for s := range n.streams {
			if !s.aggregated() && s.subscriptions[graph.TypeURL(graph.Cluster)] != nil {
				left = time.Until(n.warm)
			}
		}
	})
	if left <= 0 {
		return nil
	}
	limited, cancel := context.WithTimeoutCause(ctx, left, errWarm)
	defer cancel()
	if err := r.await(limited, func() bool { return false }); !errors.Is(err, errWarm) {
		return err
	}
	return nil
}

// firstChecks is how long the first health checks of a phase's clusters can take. The first result decides.
func firstChecks(phase plan.Phase) time.Duration {
	var longest time.Duration
	for _, send := range phase.Send {
		for _, u := range send.Update {
			c, _ := u.Message.(*clusterv3.Cluster)
			for _, check := range c.GetHealthChecks() {
				longest = max(longest, check.GetInitialJitter().AsDuration()+check.GetTimeout().AsDuration())
			}
		}
	}
	return longest
}
