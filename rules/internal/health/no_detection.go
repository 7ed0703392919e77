package health

import (
	"fmt"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"

	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/check"
	"github.com/xdslint/xdslint/rules/internal/each"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "no-detection",
	Profiles: map[lint.Profile]lint.Severity{lint.Edge: lint.Info, lint.Internal: lint.Info},
	Summary:  "nothing takes a host that fails out of use: the cluster has neither health checks nor outlier detection",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/upstream/health_checking",
		"https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/upstream/outlier",
	},
	Run: each.Cluster(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		hosts := staticHosts(p, c)
		if hosts == 0 || len(c.GetHealthChecks()) > 0 || c.GetOutlierDetection() != nil || !check.Routed(p, at.Resource()) {
			return
		}
		p.Report(at.Field("name"), lint.Diagnostic{
			Message: fmt.Sprintf("if one of the %d hosts of cluster %q fails, it keeps getting its share of the requests", hosts, c.GetName()),
			Notes:   []string{"the hosts are written in the configuration, so nothing else removes one that does not work"},
			Help: fmt.Sprintf("add health_checks, or an outlier_detection with a max_ejection_percent of at least %d",
				(100+hosts-1)/hosts),
		})
	}),
})
