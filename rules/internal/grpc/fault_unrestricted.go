package grpc

import (
	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "fault-unrestricted",
	Severity: lint.Warning,
	Summary:  "a fault for some requests, which gRPC injects into all RPCs",
	Links:    []string{"https://github.com/grpc/proposal/blob/master/A33-Fault-Injection.md"},
	Run:      resources(grpc.Client.FaultsUnrestricted),
})
