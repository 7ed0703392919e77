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

// warm waits for the first health checks of a phase's clusters where no ACK tells their end: Envoy withholds that of clusters while
// they warm only on an aggregated stream (ClusterManagerImpl::updateClusterCounts pauses that one, and no other).
func (r *run) warm(ctx context.Context, phase plan.Phase) error {
	separate := false
	r.lock(func(n *node) {
		for s := range n.streams {
			separate = separate || !s.aggregated() && s.subscriptions[graph.TypeURL(graph.Cluster)] != nil
		}
	})
	longest := firstChecks(phase)
	if !separate || longest == 0 {
		return nil
	}
	limited, cancel := context.WithTimeoutCause(ctx, longest, errWarm)
	defer cancel()
	if err := r.await(limited, func() bool { return false }); !errors.Is(err, errWarm) {
		return err
	}
	return nil
}

// firstChecks is how long the first health checks of a phase's clusters can take: one decides.
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
