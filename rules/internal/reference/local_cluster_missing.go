package reference

import (
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "local-cluster-missing",
	Severity: lint.Error,
	Summary:  "cluster_manager.local_cluster_name is not a cluster of the bootstrap",
	Links:    []string{"ClusterManagerImpl::initialize (source/common/upstream/cluster_manager_impl.cc)"},
	Run:      clusterRule(envoy.LocalCluster, "Envoy rejects it"),
})
