package health

import (
	"fmt"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"

	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/check"
	"github.com/xdslint/xdslint/rules/internal/each"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "hc-host",
	Severity: lint.Info,
	Summary:  "a health check asks a server with a public name for the name of the cluster",
	Links: []string{
		"HttpHealthCheckerImpl::HttpActiveHealthCheckSession::onInterval (source/extensions/health_checkers/http/health_checker_impl.cc)",
		"https://github.com/envoyproxy/envoy/issues/2450",
	},
	Run: each.Cluster(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		name := check.PublicName(c)
		if name == "" || name == c.GetName() || namesItsChecks(c) {
			return
		}
		for i, hc := range c.GetHealthChecks() {
			h := hc.GetHttpHealthCheck()
			if h == nil || h.GetHost() != "" {
				continue
			}
			at := at.Item("health_checks", i).Field("http_health_check")
			p.Report(at.Field("path"), lint.Diagnostic{
				Message: fmt.Sprintf("the health check asks %s with Host: %s", name, c.GetName()),
				Notes:   []string{"without host, Envoy sends the name of the cluster; a server that has several sites does not know that name, and answers 404 or 421"},
				Help:    fmt.Sprintf("add host: %s", name),
				Fixes:   lint.Insert(at, "host", name).Likely("send the name of the server"),
			})
		}
	}),
})

// namesItsChecks reports whether an endpoint says what the Host of its health checks is.
func namesItsChecks(c *clusterv3.Cluster) bool {
	for _, locality := range c.GetLoadAssignment().GetEndpoints() {
		for _, e := range locality.GetLbEndpoints() {
			if e.GetEndpoint().GetHealthCheckConfig().GetHostname() != "" {
				return true
			}
		}
	}
	return false
}
