package health

import (
	"fmt"
	"net/netip"
	"strings"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"

	"github.com/xdslint/xdslint/lint"
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
		name := publicName(c)
		if name == "" || name == c.GetName() {
			return
		}
		for i, check := range c.GetHealthChecks() {
			h := check.GetHttpHealthCheck()
			if h == nil || h.GetHost() != "" {
				continue
			}
			at := at.Item("health_checks", i).Field("http_health_check")
			p.Report(at.Field("path"), lint.Diagnostic{
				Message: fmt.Sprintf("the health check asks %s with Host: %s", name, c.GetName()),
				Notes:   []string{"without host, envoy sends the name of the cluster; a server that has several sites does not know that name, and answers 404 or 421"},
				Help:    fmt.Sprintf("add host: %s", name),
				Fixes:   lint.Insert(at, "host", name).Likely("send the name of the server"),
			})
		}
	}),
})

// publicName returns the name that all endpoints of a cluster have, if it is one of the public DNS and the endpoints do not say another for
// their health checks.
func publicName(c *clusterv3.Cluster) (name string) {
	for _, locality := range c.GetLoadAssignment().GetEndpoints() {
		for _, e := range locality.GetLbEndpoints() {
			host := strings.TrimSuffix(e.GetEndpoint().GetAddress().GetSocketAddress().GetAddress(), ".")
			if !public(host) || name != "" && host != name || e.GetEndpoint().GetHealthCheckConfig().GetHostname() != "" {
				return ""
			}
			name = host
		}
	}
	return name
}

// private are the ends of names that are used inside of a network.
var private = []string{".local", ".localhost", ".internal", ".svc", ".lan", ".test", ".consul"}

func public(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil || !strings.Contains(host, ".") {
		return false
	}
	for _, end := range private {
		if strings.HasSuffix(host, end) {
			return false
		}
	}
	return true
}
