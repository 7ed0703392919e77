package grpc

import (
	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "cluster-field-unread",
	Severity: lint.Info,
	Summary:  "a health check or limit of a cluster that gRPC does not have",
	Links:    []string{"https://github.com/grpc/proposal/blob/master/A32-xds-circuit-breaking.md"},
	Run:      resources(grpc.Client.ClusterUnread),
})
