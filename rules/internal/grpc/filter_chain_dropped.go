package grpc

import (
	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "filter-chain-dropped",
	Severity: lint.Warning,
	Summary:  "a filter chain that a server of gRPC drops because of its match",
	Links:    []string{"https://github.com/grpc/proposal/blob/master/A36-xds-for-servers.md"},
	Run:      resources(grpc.Client.ChainsDropped),
})
