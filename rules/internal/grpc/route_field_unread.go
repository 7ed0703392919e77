package grpc

import (
	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "route-field-unread",
	Severity: lint.Info,
	Summary:  "a field of a route that gRPC does not read",
	Links:    []string{"https://github.com/grpc/proposal/blob/master/A28-xds-traffic-splitting-and-routing.md"},
	Run:      tables(grpc.Client.Unread),
})
