package grpc

import (
	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "endpoints-unusable",
	Severity: lint.Warning,
	Summary:  "a load assignment, or a locality of one, that gRPC does not use",
	Links:    []string{"https://github.com/grpc/proposal/blob/master/A27-xds-global-load-balancing.md"},
	Run:      resources(grpc.Client.Unusable),
})
