package cluster

import (
	"fmt"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/each"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "load-assignment-ignored",
	Severity: lint.Warning,
	Summary:  "an EDS cluster with endpoints of its own, which Envoy never uses",
	Links:    []string{"https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/cluster/v3/cluster.proto"},
	Run: each.Cluster(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		own := envoy.CountEndpoints(c.GetLoadAssignment())
		if own == 0 || envoy.ClusterFactory(p.Target.Extensions(), c) != envoy.ClusterEDS {
			return
		}
		p.Report(at.Field("load_assignment").Key(), lint.Diagnostic{
			Message: fmt.Sprintf("cluster %q gets its endpoints over EDS, so its load_assignment is ignored", c.GetName()),
			Notes:   []string{"Envoy only uses the endpoints from EDS; until they arrive, the cluster has none"},
			Help:    "remove load_assignment, or set the type to STATIC or STRICT_DNS to use these endpoints",
		})
	}),
})
