package transition

import (
	"fmt"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "grpc-route-before-cluster",
	Family:   dataplane.GRPC,
	Severity: lint.Warning,
	Summary:  "RPCs move to a cluster that their channel does not have yet",
	Links: []string{
		"configSelector.SelectConfig (internal/xds/resolver/serviceconfig.go)",
		"pickerGroup.Pick (internal/xds/balancer/clustermanager/picker.go)",
	},
	Run: lint.ForTransition(func(p *lint.Pass, _ *graph.Changes) {
		if p.Target.Plane != grpc.Go {
			return // what the others do at that moment was not seen
		}
		seen := map[string]bool{}
		for _, m := range grpc.ClientOf(p.Snapshot, p.Target, p.GRPCEnv).Moves(p.Old, p.Snapshot) {
			at := m.To.Field("route")
			if key := fmt.Sprint(at.Resource().Kind, at.Resource().Name, at.Path(), m.Cluster); !seen[key] { // listeners can share routes
				seen[key] = true
				p.Report(at, lint.Diagnostic{
					Message: fmt.Sprintf("RPCs of listener %q move to cluster %q, which their channel does not have yet", m.Listener, m.Cluster),
					Notes:   []string{"at the moment of the change, grpc-go fails RPCs with UNAVAILABLE: unknown cluster selected for RPC"},
					Help:    "first give clients an extra route to the cluster, which no RPC takes: `xdslint plan --target grpc-go` gives the order",
				})
			}
		}
	}),
})
