package endpoint

import (
	"fmt"

	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "empty",
	Severity: lint.Info,
	Summary:  "a cluster that requests can reach does not have an endpoint",
	Links:    []string{"https://www.envoyproxy.io/docs/envoy/latest/configuration/observability/access_log/usage#response-flags"},
	Run: lint.Each(func(p *lint.Pass, at lint.At, a *endpointv3.ClusterLoadAssignment) {
		c, _ := clusterOf(at)
		if c == nil || envoy.CountEndpoints(a) > 0 || !p.Snapshot.Serves(at.Resource()) {
			return // what EDS delivers changes
		}
		p.Report(at.Field("endpoints"), lint.Diagnostic{
			Message: fmt.Sprintf("cluster %q does not have endpoints, so its requests fail", c.GetName()),
			Notes:   []string{"Envoy answers 503 with the response flag UH"},
			Help:    "add an endpoint, or remove the routes to the cluster",
		})
	}),
})
