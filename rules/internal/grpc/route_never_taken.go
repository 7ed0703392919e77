package grpc

import (
	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "route-never-taken",
	Severity: lint.Warning,
	Summary:  "a route or virtual host that no RPC can use",
	Links:    []string{"https://github.com/grpc/proposal/blob/master/A28-xds-traffic-splitting-and-routing.md"},
	Run:      tables(grpc.Client.RoutesNeverTaken, grpc.Client.VirtualHosts),
})
