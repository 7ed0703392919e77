package grpc

import (
	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "load-balancing-unsupported",
	Severity: lint.Error,
	Summary:  "a load balancing policy that gRPC does not have, or cannot configure",
	Links:    []string{"https://github.com/grpc/proposal/blob/master/A52-xds-custom-lb-policies.md", "https://github.com/grpc/proposal/blob/master/A42-xds-ring-hash-lb-policy.md"},
	Run:      resources(grpc.Client.LoadBalancing),
})
