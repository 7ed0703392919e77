package grpc

import (
	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "http-filter-unsupported",
	Severity: lint.Error,
	Summary:  "HTTP filters that gRPC does not have, or that are not followed by the router",
	Links:    []string{"https://github.com/grpc/proposal/blob/master/A39-xds-http-filters.md"},
	Run:      managers(grpc.Client.HTTPFilters, grpc.Client.FilterOrder).And(resources(grpc.Client.FaultInjection)),
})
