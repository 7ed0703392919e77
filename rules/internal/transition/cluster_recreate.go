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
	if harm := interrupted(p, change.Old); len(harm) > 0 {
		d.Severity = lint.Warning
		d.Notes = []string{scratch}
		for _, message := range harm {
			d.Notes = append(d.Notes, "calls to it that are under way fail: "+message)
		}
		d.Help = "give the changed cluster another name, and refer to that: `xdslint plan` removes the old one when nothing uses it any more"
	} else {
		d.Notes = []string{scratch + "; no request fails"}
	}
	if c, ok := change.New.Message.(*clusterv3.Cluster); ok && len(c.GetHealthChecks()) > 0 {
		d.Notes = append(d.Notes, "the old cluster serves until the first health checks of the new one are done")
	}
	p.Report(fieldOf(change, fields[0]), d)
}

// interrupted lists what Envoy does with requests that are not served as intended, since a filter waits for a cluster that is rebuilt.
func interrupted(p *lint.Pass, cluster *graph.Resource) []string {
	var all []string
	for _, e := range p.Old.To(cluster) {
		if message, impact := envoy.Interrupted(e); impact > envoy.TrafficServed && p.Old.Serves(e.From) {
			all = append(all, message)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
