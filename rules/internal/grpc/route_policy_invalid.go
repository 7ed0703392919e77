package grpc

import (
	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "route-policy-invalid",
	Severity: lint.Error,
	Summary:  "a retry policy, hash policy or stream duration that gRPC rejects",
	Links:    []string{"https://github.com/grpc/proposal/blob/master/A44-xds-retry.md", "https://github.com/grpc/proposal/blob/master/A42-xds-ring-hash-lb-policy.md", "https://github.com/grpc/proposal/blob/master/A31-xds-timeout-support-and-config-selector.md"},
	Run:      tables(grpc.Client.RetryPolicies, grpc.Client.HashPolicies, grpc.Client.StreamDurations),
})
