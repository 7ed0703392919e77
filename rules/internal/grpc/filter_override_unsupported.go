package grpc

import (
	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "filter-override-unsupported",
	Severity: lint.Error,
	Summary:  "a configuration of an HTTP filter for a route that gRPC does not take",
	Links:    []string{"https://github.com/grpc/proposal/blob/master/A39-xds-http-filters.md"},
	Run:      tables(grpc.Client.Overrides),
})
