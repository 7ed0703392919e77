package grpc

import (
	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "authority-unknown",
	Severity: lint.Warning,
	Summary:  "a name of an authority that the bootstrap does not declare",
	Links:    []string{"https://github.com/grpc/proposal/blob/master/A47-xds-federation.md"},
	Run:      resources(grpc.Client.UndeclaredAuthorities),
})
