package grpc

import (
	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "route-action-unsupported",
	Severity: lint.Error,
	Summary:  "a route that leads to nothing that gRPC supports",
	Links:    []string{"https://github.com/grpc/proposal/blob/master/A28-xds-traffic-splitting-and-routing.md"},
	Run:      tables(grpc.Client.RouteActions, grpc.Client.SpecifierPlugins),
})
