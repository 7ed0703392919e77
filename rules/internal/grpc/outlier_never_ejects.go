package grpc

import (
	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "outlier-never-ejects",
	Severity: lint.Warning,
	Summary:  "outlier detection that ejects nothing in gRPC, which does not count errors in a row",
	Links:    []string{"https://github.com/grpc/proposal/blob/master/A50-xds-outlier-detection.md"},
	Run:      resources(grpc.Client.NeverEjects),
})
