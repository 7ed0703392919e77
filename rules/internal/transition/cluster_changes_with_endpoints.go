package transition

import (
	"fmt"
	"slices"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "cluster-changes-with-endpoints",
	Severity: lint.Warning,
	Summary:  "a cluster changes its protocol or transport socket together with all its endpoints",
	Links:    []string{"https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/upstream/cluster_manager#cluster-warming"},
	Run: lint.ForTransition(func(p *lint.Pass, changes *graph.Changes) {
		for _, change := range changes.Of(graph.Cluster) {
			if !change.Changed() || !inUse(p.Old, change.Old) {
				continue
			}
			before, after := edsOf(p.Old, change.Old), edsOf(p.Snapshot, change.New)
			if before == nil || after == nil || before.To == nil || after.To == nil || before.Target != after.Target {
				continue
			}
			if field := envoy.MannerOf(change); field != "" && envoy.Exchanged(before.To, after.To) && lasts(p, change) {
				reportTogether(p, change, after, field)
			}
		}
	}),
})

func reportTogether(p *lint.Pass, change *graph.Change, eds *graph.Edge, field string) {
	p.Report(change.New.At().Field(field).Key(), lint.Diagnostic{
		Message: fmt.Sprintf("cluster %q changes its %s together with all its endpoints", change.Name, field),
		Notes: []string{
			"until the new cluster is warm, the old cluster uses the new endpoints with its old settings: 503 (response flag UF or UC)",
		},
		Help: fmt.Sprintf("give the cluster another eds_cluster_config.service_name in the same push: the old one then keeps "+
			"the endpoints of %q until the new one is warm", eds.Target),
		Related: []lint.Related{lint.RelatedTo(eds.To.At().Field("endpoints"), "all these endpoints are new")},
	})
}

// lasts reports whether the old cluster uses the new endpoints for more than a moment: because the new cluster waits for health
// checks or for secrets that Envoy does not have, or because the order of the two resources is not defined. An old cluster with
// health checks keeps its endpoints until then.
func lasts(p *lint.Pass, change *graph.Change) bool {
	before, _ := change.Old.Message.(*clusterv3.Cluster)
	after, _ := change.New.Message.(*clusterv3.Cluster)
	keeps := len(before.GetHealthChecks()) > 0 && !before.GetIgnoreHealthOnHostRemoval()
	return !keeps && (len(after.GetHealthChecks()) > 0 || fetches(p, change.New) || !p.Push.Transport.ADS())
}

// fetches reports whether a cluster needs a secret that Envoy has not requested before.
func fetches(p *lint.Pass, cluster *graph.Resource) bool {
	return slices.ContainsFunc(p.Snapshot.From(cluster), func(e *graph.Edge) bool {
		return e.Kind == graph.Secret && e.To != nil && e.To.Delivery == graph.OverXDS && !subscribed(p.Old, e.To)
	})
}
