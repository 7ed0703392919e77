package reference

import (
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "listener-unknown-rds",
	Severity: lint.Error,
	Summary:  "an HTTP connection manager uses a route configuration that does not exist",
	Links:    []string{"https://www.envoyproxy.io/docs/envoy/latest/api-docs/xds_protocol#resource-warming"},
	Run: dangling(graph.RouteConfiguration, "no route configuration",
		"the listener waits for it until initial_fetch_timeout (15 s unless set), then answers 404 (response flag NR)", fieldRDS),
})
