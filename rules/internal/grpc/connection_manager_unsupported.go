package grpc

import (
	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "connection-manager-unsupported",
	Severity: lint.Error,
	Summary:  "an HTTP connection manager that gRPC does not take: its place, its source of routes, its fields",
	Links:    []string{"https://github.com/grpc/proposal/blob/master/A27-xds-global-load-balancing.md", "https://github.com/grpc/proposal/blob/master/A36-xds-for-servers.md", "https://github.com/grpc/proposal/blob/master/A41-xds-rbac.md"},
	Run:      resources(grpc.Client.APIListener).And(managers(grpc.Client.RouteSource, grpc.Client.OriginalAddress)),
})
