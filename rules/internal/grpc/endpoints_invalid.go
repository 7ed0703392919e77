package grpc

import (
	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "endpoints-invalid",
	Severity: lint.Error,
	Summary:  "localities, priorities, endpoints or drops that gRPC rejects or cannot reach",
	Links:    []string{"https://github.com/grpc/proposal/blob/master/A27-xds-global-load-balancing.md"},
	Run:      resources(grpc.Client.Localities, grpc.Client.Endpoints, grpc.Client.Drops),
})
