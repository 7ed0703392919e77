package grpc

import (
	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "condition-unread",
	Severity: lint.Warning,
	Summary:  "a condition of a route that gRPC does not check",
	Links:    []string{"https://github.com/grpc/proposal/blob/master/A28-xds-traffic-splitting-and-routing.md"},
	Run:      tables(grpc.Client.ConditionsUnread),
})
