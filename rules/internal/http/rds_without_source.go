package http

import (
	"strings"

	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "rds-without-source",
	Severity: lint.Error,
	Summary:  "a connection manager's rds does not say where the route table comes from",
	Links:    []string{"validateRds (source/extensions/filters/network/http_connection_manager/config.cc)"},
	Run: each(func(p *lint.Pass, at lint.At, m *hcmv3.HttpConnectionManager) {
		rds := m.GetRds()
		if rds == nil || rds.GetConfigSource() != nil {
			return
		}
		if strings.HasPrefix(rds.GetRouteConfigName(), "xdstp:") {
			if noAuthorities(p) {
				p.Reject(at.Field("rds").Key(), lint.Rejection{
					Message:  "rds has no config_source, and the bootstrap none for xdstp names",
					Help:     "add config_source",
					Upstream: "Missing config source specifier in envoy::config::core::v3::ConfigSource",
				})
			}
			return
		}
		p.Reject(at.Field("rds").Key(), lint.Rejection{
			Message:  "rds has no config_source",
			Help:     "add config_source: {ads: {}, resource_api_version: V3}, or whatever server has the table",
			Upstream: "An RDS config must have either a 'config_source' or an xDS-TP based 'route_config_name'",
		})
	}),
})

// noAuthorities tells of a bootstrap that has no source for xdstp names. Whether one that has uses it depends on the runtime.
func noAuthorities(p *lint.Pass) bool {
	b, _ := p.Snapshot.Bootstrap()
	return b != nil && b.GetDefaultConfigSource() == nil && len(b.GetConfigSources()) == 0
}
