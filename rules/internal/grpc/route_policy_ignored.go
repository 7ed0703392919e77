package grpc

import (
	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "route-policy-ignored",
	Severity: lint.Warning,
	Summary:  "a retry policy or hash policy that has no effect in gRPC",
	Links:    []string{"https://github.com/grpc/proposal/blob/master/A44-xds-retry.md", "https://github.com/grpc/proposal/blob/master/A42-xds-ring-hash-lb-policy.md"},
	Run:      tables(grpc.Client.RetriesNothing, grpc.Client.HashPoliciesIgnored),
})
