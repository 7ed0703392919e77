package cluster

import (
	"fmt"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"

	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/each"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "many-health-checks",
	Severity: lint.Error,
	Summary:  "a cluster has several health checks without unique names",
	Links:    []string{"ClusterFactoryImplBase::create (source/common/upstream/cluster_factory_impl.cc)"},
	Run: each.Cluster(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		if len(c.GetHealthChecks()) < 2 {
			return
		}
		seen := map[string]bool{}
		for i, check := range c.GetHealthChecks() {
			name := check.GetName()
			switch {
			case name == "":
				p.Reject(at.Item("health_checks", i), lint.Rejection{
					Message: "a cluster with several health checks needs a name for each of them",
					Help:    "write a name for each health check, or keep one of them",
					Upstream: fmt.Sprintf("health check at index %d is missing a name; all health checks must have a name when multiple health checks are configured",
						i),
				})
			case seen[name]:
				p.Reject(at.Item("health_checks", i).Field("name"), lint.Rejection{
					Message:  fmt.Sprintf("two health checks have the name %q", name),
					Help:     "write a unique name for each health check",
					Upstream: fmt.Sprintf("duplicate health check name '%s' at index %d; all health check names must be unique within a cluster", name, i),
				})
			}
			seen[name] = true
		}
	}),
})
