package transition

import (
	"fmt"
	"slices"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/words"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "cluster-recreate",
	Severity: lint.Info,
	Summary:  "a changed cluster is rebuilt",
	Links: []string{
		"ClusterManagerImpl::addOrUpdateCluster (source/common/upstream/cluster_manager_impl.cc)",
		"AsyncClientImpl::~AsyncClientImpl (source/common/http/async_client_impl.cc)",
	},
	Run: lint.ForTransition(func(p *lint.Pass, changes *graph.Changes) {
		for _, change := range changes.Of(graph.Cluster) {
			if change.Changed() && p.Old.Serves(change.Old) && p.Snapshot.Serves(change.New) {
				reportRecreation(p, change)
			}
		}
	}),
})

func reportRecreation(p *lint.Pass, change *graph.Change) {
	fields := envoy.ChangedFields(change)
	if len(fields) == 0 {
		return
	}
	why := fields[0]
	if len(fields) > 1 {
		why = words.And(fields)
	}
	d := lint.Diagnostic{Message: fmt.Sprintf("cluster %q is rebuilt because %s changed", change.Name, why)}
	const scratch = "Envoy opens new connections to its endpoints, and circuit breakers, outlier detection and load balancing start from zero"
	if authorizes(p, change.Old) {
		d.Severity = lint.Warning
		d.Notes = []string{scratch, "Envoy ends the authorization checks that are under way, and denies their requests (403), unless the filter says otherwise"}
		d.Help = "give the changed cluster another name, and refer to that: `xdslint plan` removes the old one when nothing uses it any more"
	} else {
		d.Notes = []string{scratch + "; no request fails"}
	}
	if c, ok := change.New.Message.(*clusterv3.Cluster); ok && len(c.GetHealthChecks()) > 0 {
		d.Notes = append(d.Notes, "the old cluster serves until the first health checks of the new one are done")
	}
	p.Report(fieldOf(change, fields[0]), d)
}

// authorizes reports whether requests are checked with a cluster.
func authorizes(p *lint.Pass, cluster *graph.Resource) bool {
	return slices.ContainsFunc(p.Old.To(cluster), func(e *graph.Edge) bool { return envoy.RoleOf(e) == envoy.AuthzCluster })
}
