package reference

import (
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "eds-missing",
	Severity: lint.Error,
	Summary:  "an EDS cluster has no ClusterLoadAssignment",
	Why: `A cluster warms until its endpoints are there. A new one is unknown to routes for so long (503 with the response flag ` + "`NC`" + `), and holds back
the listeners of a starting Envoy; after ` + "`initial_fetch_timeout`" + ` (15 s unless set) it goes live without any host (503 ` + "`UH`" + `).

The name that is asked for is ` + "`eds_cluster_config.service_name`" + `, or the cluster's own where that is empty. A cluster that has no endpoints yet
wants an empty ClusterLoadAssignment, not none.`,
	Links: []string{"https://github.com/envoyproxy/envoy/issues/46383", "https://github.com/envoyproxy/envoy/issues/19262"},
	Run: dangling(graph.ClusterLoadAssignment, "no cluster load assignment",
		"the cluster waits for it until initial_fetch_timeout (15 s unless set), then has no host (503, response flag UH)"),
})
