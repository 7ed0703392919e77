package grpc

import (
	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "rbac-unsupported",
	Severity: lint.Error,
	Summary:  "an RBAC policy that gRPC cannot evaluate",
	Links:    []string{"https://github.com/grpc/proposal/blob/master/A41-xds-rbac.md"},
	Run:      resources(grpc.Client.RBAC),
})
