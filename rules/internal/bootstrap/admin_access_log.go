package bootstrap

import (
	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "admin-access-log",
	Severity: lint.Error,
	Summary:  "the access log of the admin interface goes to a server, which crashes Envoy",
	Links:    []string{"InitialImpl::initAdminAccessLog (source/server/configuration_impl.cc)"},
	Run: each(func(p *lint.Pass, at lint.At, b *bootstrapv3.Bootstrap) {
		for i, log := range b.GetAdmin().GetAccessLog() {
			at := at.Field("admin").Item("access_log", i)
			if remoteLogs[string(configured(at, log.GetTypedConfig()))] {
				p.Reject(at.Field("typed_config"), lint.Rejection{
					Message:  "Envoy crashes if the access log of the admin interface goes to a server",
					Help:     "log to a file, or to standard output",
					Upstream: "Caught Segmentation fault",
				})
			}
		}
	}),
})

// remoteLogs are the access loggers that need the cluster manager.
var remoteLogs = map[string]bool{
	"envoy.extensions.access_loggers.fluentd.v3.FluentdAccessLogConfig":              true,
	"envoy.extensions.access_loggers.grpc.v3.HttpGrpcAccessLogConfig":                true,
	"envoy.extensions.access_loggers.grpc.v3.TcpGrpcAccessLogConfig":                 true,
	"envoy.extensions.access_loggers.open_telemetry.v3.OpenTelemetryAccessLogConfig": true,
}
