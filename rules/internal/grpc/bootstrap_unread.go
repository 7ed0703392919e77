package grpc

import (
	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "bootstrap-unread",
	Severity: lint.Warning,
	Summary:  "a field, server feature or plugin in a bootstrap that gRPC does not read",
	Links:    []string{"https://github.com/grpc/proposal/blob/master/A27-xds-global-load-balancing.md"},
	Run:      bootstraps(grpc.Client.BootstrapUnread),
})
