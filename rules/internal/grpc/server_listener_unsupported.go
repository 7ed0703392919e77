package grpc

import (
	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "server-listener-unsupported",
	Severity: lint.Error,
	Summary:  "a listener that a server of gRPC does not take: its address, filter chains, network filters",
	Links:    []string{"https://github.com/grpc/proposal/blob/master/A36-xds-for-servers.md"},
	Run:      resources(grpc.Client.ServerListener, grpc.Client.ChainMatches, grpc.Client.NetworkFilters),
})
