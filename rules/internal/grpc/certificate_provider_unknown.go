package grpc

import (
	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "certificate-provider-unknown",
	Severity: lint.Error,
	Summary:  "a certificate provider that the bootstrap does not declare",
	Links:    []string{"https://github.com/grpc/proposal/blob/master/A29-xds-tls-security.md"},
	Run:      resources(grpc.Client.ClusterProviders).And(resources(grpc.Client.ChainProviders)),
})
