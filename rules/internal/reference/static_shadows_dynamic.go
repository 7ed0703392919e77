package reference

import (
	"fmt"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "static-shadows-dynamic",
	Severity: lint.Warning,
	Summary:  "a resource from LDS or CDS has the name of one in the bootstrap",
	Links: []string{
		"ClusterManagerImpl::addOrUpdateCluster, blockUpdate (source/common/upstream/cluster_manager_impl.h)",
		"ListenerManagerImpl::addOrUpdateListenerInternal (source/common/listener_manager/listener_manager_impl.cc)",
	},
	Run: lint.ForSnapshot(func(p *lint.Pass) {
		if envoy.BootOf(p.Snapshot) == nil {
			return
		}
		for _, kind := range []graph.Kind{graph.Listener, graph.Cluster} {
			static := map[string]*graph.Resource{}
			for _, r := range p.Snapshot.All(kind) {
				if r.Delivery == graph.FromBootstrap && r.Name != "" {
					static[r.Name] = r
				}
			}
			for _, r := range p.Snapshot.All(kind) {
				if first := static[r.Name]; first != nil && r.Delivery == graph.OverXDS {
					p.ReportResource(r, lint.Diagnostic{
						Message: fmt.Sprintf("the bootstrap already has a %s named %q", kind, r.Name),
						Notes:   []string{"envoy acknowledges the update and ignores it"},
						Help:    "give one of them another name",
						Related: []lint.Related{lint.RelatedTo(first.At().Field("name"), "the one in the bootstrap")},
					})
				}
			}
		}
	}),
})
