package http

import (
	"strings"

	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "rds-without-source",
	Severity: lint.Error,
	Summary:  "a connection manager's rds does not have a source for the route table",
	Links:    []string{"validateRds (source/extensions/filters/network/http_connection_manager/config.cc)"},
	Run: each(func(p *lint.Pass, at lint.At, m *hcmv3.HttpConnectionManager) {
		rds := m.GetRds()
		if rds == nil || rds.GetConfigSource() != nil {
			return
		}
		if strings.HasPrefix(rds.GetRouteConfigName(), "xdstp:") {
			if noAuthorities(p) {
				p.Reject(at.Field("rds").Key(), lint.Rejection{
					Message:  "rds does not have a config_source, and the bootstrap does not have one for xdstp names",
					Help:     "add config_source",
					Upstream: "Missing config source specifier in envoy::config::core::v3::ConfigSource",
				})
			}
			return
		}
		p.Reject(at.Field("rds").Key(), lint.Rejection{
			Message:  "rds does not have a config_source",
			Help:     "add config_source: {ads: {}, resource_api_version: V3}, or another source",
			Upstream: "An RDS config must have either a 'config_source' or an xDS-TP based 'route_config_name'",
		})
	}),
})

// noAuthorities reports whether the bootstrap does not have a source for xdstp names. If it has one, the runtime decides whether Envoy
// uses it.
func noAuthorities(p *lint.Pass) bool {
	b, _ := p.Snapshot.Bootstrap()
	return b != nil && b.GetDefaultConfigSource() == nil && len(b.GetConfigSources()) == 0
}
