package reference

import (
	"fmt"

	overloadv3 "github.com/envoyproxy/go-control-plane/envoy/config/overload/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "overload-trigger-unknown",
	Severity: lint.Error,
	Summary:  "an overload action or load shed point has a trigger without a resource monitor",
	Links:    []string{"OverloadManagerImpl::OverloadManagerImpl (source/server/overload_manager_impl.cc)"},
	Run: inside(graph.ResourceMonitor, func(p *lint.Pass, e *graph.Edge) {
		if _, action := graph.As[*overloadv3.OverloadAction](e.Place.Parent); action && e.Target == proactive {
			return
		}
		watched := func(graph.View) (names []string) {
			manager, _ := graph.As[*overloadv3.OverloadManager](e.Place.Enclosing("envoy.config.overload.v3.OverloadManager"))
			for _, monitor := range manager.GetResourceMonitors() {
				names = append(names, monitor.GetName())
			}
			return names
		}
		d := lint.Diagnostic{
			Message:  fmt.Sprintf("no resource monitor is named %q", e.Target),
			Notes:    []string{envoy.OnReject(e.From)},
			Help:     "add it to overload_manager.resource_monitors",
			Rejected: e.From.State == "", Upstream: fmt.Sprintf("Unknown trigger resource %s for ", e.Target) + triggered(e.Place),
		}
		d.Guess(e.Target, watched, correct(e))
		p.ReportEdge(e, d)
	}),
})

// proactive lists the resources that actions can name without a monitor (OverloadProactiveResources).
const proactive = "envoy.resource_monitors.global_downstream_max_connections"

func triggered(at *graph.Place) string {
	if point, ok := graph.As[*overloadv3.LoadShedPoint](at.Parent); ok {
		return "loadshed point " + point.GetName()
	}
	action, _ := graph.As[*overloadv3.OverloadAction](at.Parent)
	return "overload action " + action.GetName()
}
