package reference

import (
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "local-cluster-missing",
	Severity: lint.Error,
	Summary:  "cluster_manager.local_cluster_name is no cluster of the bootstrap",
	Why: `Zone aware routing and rate limits shared by a cluster need to know the cluster that this Envoy is part of. It is looked up right after the static
clusters are loaded, so one that CDS brings later does not count: ` + "`local cluster 'x' must be defined`" + ` refuses the bootstrap.`,
	Links: []string{"ClusterManagerImpl::initialize (source/common/upstream/cluster_manager_impl.cc)"},
	Run:   clusterRule(envoy.LocalCluster, "envoy refuses it"),
})
