package grpc

import (
	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "names-not-verified",
	Severity: lint.Warning,
	Summary:  "names of servers that gRPC does not verify",
	Links:    []string{"https://github.com/grpc/proposal/blob/master/A29-xds-tls-security.md"},
	Run:      resources(grpc.Client.NamesUnverified),
})
