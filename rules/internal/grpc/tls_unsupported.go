package grpc

import (
	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "tls-unsupported",
	Severity: lint.Error,
	Summary:  "TLS settings that gRPC does not take: certificates come only from certificate providers",
	Links:    []string{"https://github.com/grpc/proposal/blob/master/A29-xds-tls-security.md"},
	Run:      resources(grpc.Client.ClusterTLS).And(resources(grpc.Client.ChainTLS)),
})
