package grpc

import (
	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "cluster-discovery-unsupported",
	Severity: lint.Error,
	Summary:  "a cluster whose endpoints gRPC cannot discover: its type, EDS not over ADS, several DNS hosts",
	Links:    []string{"https://github.com/grpc/proposal/blob/master/A27-xds-global-load-balancing.md", "https://github.com/grpc/proposal/blob/master/A37-xds-aggregate-and-logical-dns-clusters.md", "https://github.com/grpc/proposal/blob/master/A47-xds-federation.md"},
	Run:      resources(grpc.Client.ClusterType, grpc.Client.Aggregate, grpc.Client.Discovery, grpc.Client.LogicalDNS),
})
