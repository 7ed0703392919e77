package grpc

import (
	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "resource-unnamed",
	Severity: lint.Error,
	Summary:  "a resource without a name, or with metadata that gRPC cannot read",
	Links:    []string{"https://github.com/grpc/proposal/blob/master/A27-xds-global-load-balancing.md"},
	Run:      resources(grpc.Client.Named).And(resources(grpc.Client.Metadata)),
})
