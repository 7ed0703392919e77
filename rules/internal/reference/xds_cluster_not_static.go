package reference

import (
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "xds-cluster-not-static",
	Severity: lint.Error,
	Summary:  "the cluster of a config server does not exist, comes from CDS, or gets its endpoints over EDS",
	Links: []string{
		"Utility::checkApiConfigSourceSubscriptionBackingCluster (source/common/config/utility.cc)",
		"ClusterManagerImpl::checkActiveStaticCluster (source/common/upstream/cluster_manager_impl.cc)",
		"https://github.com/envoyproxy/envoy/issues/12161",
	},
	Run: clusterRule(envoy.ConfigServerCluster, "Envoy never reaches the config server and gets no resources from it"),
})
