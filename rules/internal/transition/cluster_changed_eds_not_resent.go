package transition

import (
	"fmt"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "cluster-changed-eds-not-resent",
	Severity: lint.Warning,
	Summary:  "a cluster changes, and its unchanged endpoints are not sent again",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/api-docs/xds_protocol#resource-warming",
		"https://github.com/kumahq/kuma/issues/331", "https://github.com/envoyproxy/envoy/issues/46383",
	},
	Run: lint.ForTransition(func(p *lint.Pass, changes *graph.Changes) {
		if !p.Push.Transport.ADS() || !p.Push.Transport.Incremental() && (p.Push.Versions == lint.Global || len(changes.Of(graph.ClusterLoadAssignment)) > 0) {
			return
		}
		var stuck []*graph.Change
		for _, change := range changes.Of(graph.Cluster) {
			if change.Changed() && p.Snapshot.Serves(change.New) && keepsEndpoints(p, changes, change) {
				stuck = append(stuck, change)
			}
		}
		if len(stuck) > 0 {
			reportStuck(p, stuck)
		}
	}),
})

// keepsEndpoints reports whether both versions of a cluster get the same load assignment over ADS, and it does not change.
func keepsEndpoints(p *lint.Pass, changes *graph.Changes, change *graph.Change) bool {
	before, after := edsOf(p.Old, change.Old), edsOf(p.Snapshot, change.New)
	switch {
	case before == nil || after == nil || before.To == nil || after.To == nil || before.Target != after.Target:
		return false
	case before.Source != after.Source || after.Source != graph.ADS && after.Source != graph.Anywhere:
		return false
	}
	return changes.Find(graph.ClusterLoadAssignment, after.Target) == nil
}

func reportStuck(p *lint.Pass, stuck []*graph.Change) {
	first := stuck[0]
	c, _ := first.New.Message.(*clusterv3.Cluster)
	wait := fetchTimeout(c.GetEdsClusterConfig().GetEdsConfig())
	d := lint.Diagnostic{
		Message: fmt.Sprintf("the change of cluster %q%s waits for endpoints that are not sent again",
			first.Name, andMore(len(stuck)-1, "other", "others")),
		Notes: []string{
			"Envoy warms the changed cluster until it receives the endpoints again, but they have not changed; meanwhile the " +
				"old cluster serves, so no request fails",
			fmt.Sprintf("the change is %g s late (initial_fetch_timeout), and Envoy withholds the ACK of CDS until then", wait.Seconds()),
		},
		Help: "send the load assignment again after the cluster, with a new version of EDS: `xdslint plan` does",
	}
	if wait == 0 {
		d.Notes[1] = "it waits forever (initial_fetch_timeout: 0s), and Envoy never ACKs CDS"
	}
	if p.Push.Transport.Incremental() {
		d.Help = "send the load assignment again after the cluster, with a harmless change such as " +
			"policy.overprovisioning_factor: 140: `xdslint plan` does"
	}
	p.Report(changedField(first), d)
}

// defaultFetchTimeout applies to a ConfigSource without initial_fetch_timeout.
const defaultFetchTimeout = 15 * time.Second

func fetchTimeout(cs *corev3.ConfigSource) time.Duration {
	if cs.GetInitialFetchTimeout() == nil {
		return defaultFetchTimeout
	}
	return cs.GetInitialFetchTimeout().AsDuration()
}

// changedField returns the first field of the new resource that differs from the old one, or the name if fields were removed.
func changedField(change *graph.Change) lint.At {
	at := change.New.At()
	before, after := change.Old.CanonicalOf(change.Old.Message).ProtoReflect(), change.New.CanonicalOf(change.New.Message).ProtoReflect()
	fields := after.Descriptor().Fields()
	for i := range fields.Len() {
		fd := fields.Get(i)
		if !after.Has(fd) || before.Descriptor() != after.Descriptor() {
			continue
		}
		a, b := before.New(), after.New()
		if before.Has(fd) {
			a.Set(fd, before.Get(fd))
		}
		b.Set(fd, after.Get(fd))
		if !proto.Equal(a.Interface(), b.Interface()) {
			return at.Field(string(fd.Name()))
		}
	}
	return at.Field("name")
}
