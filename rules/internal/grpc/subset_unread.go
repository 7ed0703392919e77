package grpc

import (
	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "subset-unread",
	Severity: lint.Warning,
	Summary:  "a route to a subset of endpoints, where gRPC uses all of them",
	Links:    []string{"https://github.com/grpc/proposal/blob/master/A28-xds-traffic-splitting-and-routing.md"},
	Run:      tables(grpc.Client.SubsetsUnread),
})
