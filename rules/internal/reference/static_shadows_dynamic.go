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
	Run: lint.EachResource(func(p *lint.Pass, r *graph.Resource) {
		if r.Delivery != graph.OverXDS || r.Name == "" || envoy.BootOf(p.Snapshot) == nil {
			return
		}
		if first := p.Snapshot.Booted(r.Kind, r.Name); first != nil {
			p.ReportResource(r, lint.Diagnostic{
				Message: fmt.Sprintf("the bootstrap already has a %s named %q", r.Kind, r.Name),
				Notes:   []string{"Envoy acknowledges the update and ignores it"},
				Help:    "give one of them another name",
				Related: []lint.Related{lint.RelatedTo(first.At().Field("name"), "the one in the bootstrap")},
			})
		}
	}, graph.Listener, graph.Cluster),
})
