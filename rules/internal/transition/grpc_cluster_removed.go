package transition

import (
	"fmt"
	"slices"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "grpc-cluster-removed",
	Family:   dataplane.GRPC,
	Severity: lint.Error,
	Summary:  "a cluster is removed before clients of gRPC have other routes",
	Links: []string{
		"DependencyManager.onClusterResourceError (internal/xds/xdsdepmgr/xds_dependency_manager.go)",
		"https://github.com/grpc/proposal/blob/master/A74-xds-config-tears.md",
	},
	Run: lint.ForTransition(func(p *lint.Pass, changes *graph.Changes) {
		tables := grpc.ClientOf(p.Snapshot, p.Target, p.GRPCEnv).TablesKept(p.Old, p.Snapshot)
		for _, change := range changes.Of(graph.Cluster) {
			if !change.Removed() {
				continue
			}
			// A member of an aggregate can be removed by the response that changes the aggregate.
			routed := slices.IndexFunc(p.Old.To(change.Old), func(e *graph.Edge) bool { return tables[e.From] != "" })
			if routed < 0 {
				continue
			}
			e := p.Old.To(change.Old)[routed]
			p.ReportEdge(e, lint.Diagnostic{
				Message: fmt.Sprintf("cluster %q is removed before clients have other routes: RPCs of listener %q", change.Name, tables[e.From]),
				Notes:   []string{p.Target.Actor() + " removes the cluster at once, and fails RPCs to it with UNAVAILABLE until it has the other routes and what they need"},
				Help:    "remove the cluster when clients no longer ask for it: `xdslint plan` gives the order",
				Related: []lint.Related{lint.RelatedTo(change.Old.At().Field("name"), "the new snapshot does not have it")},
			})
		}
	}),
})
