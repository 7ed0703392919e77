package grpc

import (
	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "rbac-not-enforced",
	Severity: lint.Warning,
	Summary:  "an RBAC filter that lets all RPCs through",
	Links:    []string{"https://github.com/grpc/proposal/blob/master/A41-xds-rbac.md"},
	Run:      resources(grpc.Client.NotEnforced),
})
