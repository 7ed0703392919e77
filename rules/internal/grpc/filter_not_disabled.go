package grpc

import (
	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "filter-not-disabled",
	Severity: lint.Warning,
	Summary:  "a disabled HTTP filter that runs in gRPC",
	Links:    []string{"https://github.com/grpc/proposal/blob/master/A39-xds-http-filters.md"},
	Run:      managers(grpc.Client.FiltersNotDisabled).And(tables(grpc.Client.OverridesNotDisabled)),
})
