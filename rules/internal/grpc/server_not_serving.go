package grpc

import (
	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "server-not-serving",
	Severity: lint.Warning,
	Summary:  "a listener with which a server of gRPC closes connections",
	Links:    []string{"https://github.com/grpc/proposal/blob/master/A36-xds-for-servers.md"},
	Run:      resources(grpc.Client.ChainsAmbiguous, grpc.Client.ServerAddress),
})
