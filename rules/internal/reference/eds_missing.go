package reference

import (
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "eds-missing",
	Severity: lint.Error,
	Summary:  "an EDS cluster has no ClusterLoadAssignment",
	Links:    []string{"https://github.com/envoyproxy/envoy/issues/46383", "https://github.com/envoyproxy/envoy/issues/19262"},
	Run: dangling(graph.ClusterLoadAssignment, "no cluster load assignment",
		"the cluster waits for it until initial_fetch_timeout (15 s unless set), then has no hosts (503, response flag UH)"),
})
