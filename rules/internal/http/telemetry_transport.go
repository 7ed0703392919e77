package http

import (
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tracev3 "github.com/envoyproxy/go-control-plane/envoy/config/trace/v3"
	otellogv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/access_loggers/open_telemetry/v3"

	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/read"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "telemetry-transport",
	Severity: lint.Error,
	Summary:  "a tracer or an access log has no place to send to, or several",
	Links: []string{
		"Driver::Driver (source/extensions/tracers/opentelemetry/opentelemetry_tracer_impl.cc)",
		"Driver::Driver (source/extensions/tracers/zipkin/zipkin_tracer_impl.cc)",
		"XRayTracerFactory::createTracerDriverTyped (source/extensions/tracers/xray/config.cc)",
	},
	Run: read.Each(read.Of(openTelemetry), read.Of(zipkin), read.Of(xray), read.Of(openTelemetryLog)),
})

func openTelemetry(p *lint.Pass, at lint.At, m *tracev3.OpenTelemetryConfig) {
	grpc, http := m.GetGrpcService() != nil, m.GetHttpService() != nil
	switch {
	case grpc && http:
		upstream := "OpenTelemetry Tracer must have exactly one of gRPC, HTTP, or custom exporter configured."
		if p.Target.Before("1.40") {
			upstream = "OpenTelemetry Tracer cannot have both gRPC and HTTP exporters configured."
		}
		p.Reject(at.Field("http_service").Key(), lint.Rejection{
			Message:  "the tracer has both grpc_service and http_service",
			Help:     "keep one of them",
			Upstream: upstream,
			Related:  []lint.Related{lint.RelatedTo(at.Field("grpc_service").Key(), "the other one")},
		})
	case !grpc && !http && m.GetExporter() == nil && !p.Target.Before("1.40"):
		p.Reject(at, lint.Rejection{
			Message:  "the tracer does not have a service to send spans to",
			Help:     "add grpc_service or http_service",
			Upstream: "OpenTelemetry Tracer must have exactly one of gRPC, HTTP, or custom exporter configured.",
		})
	}
}

func zipkin(p *lint.Pass, at lint.At, m *tracev3.ZipkinConfig) {
	if m.GetCollectorService().GetHttpUri() == nil && (m.GetCollectorCluster() == "" || m.GetCollectorEndpoint() == "") {
		p.Reject(at, lint.Rejection{
			Message:  "the tracer does not have a collector",
			Help:     "add collector_service, or both collector_cluster and collector_endpoint",
			Upstream: "collector_cluster and collector_endpoint must be specified when not using collector_service",
		})
	}
}

func xray(p *lint.Pass, at lint.At, m *tracev3.XRayConfig) {
	switch {
	case m.GetDaemonEndpoint() == nil:
		p.Reject(at, lint.Rejection{
			Message:  "the tracer does not have an address of the X-Ray daemon",
			Help:     "add daemon_endpoint: {protocol: UDP, address: 127.0.0.1, port_value: 2000}",
			Upstream: "X-Ray daemon endpoint must be a UDP socket address",
		})
	case m.GetDaemonEndpoint().GetNamedPort() != "":
		p.Reject(at.Field("daemon_endpoint", "named_port").Key(), lint.Rejection{
			Message:  "the port of the X-Ray daemon is a name",
			Help:     "write port_value",
			Upstream: "X-Ray daemon port must be specified as number. Not a named port.",
		})
	case m.GetDaemonEndpoint().GetProtocol() != corev3.SocketAddress_UDP:
		p.Reject(at.Field("daemon_endpoint"), lint.Rejection{
			Message:  "the X-Ray daemon is reached over UDP, not TCP",
			Help:     "add protocol: UDP",
			Upstream: "X-Ray daemon endpoint must be a UDP socket address",
		})
	}
}

func openTelemetryLog(p *lint.Pass, at lint.At, m *otellogv3.OpenTelemetryAccessLogConfig) {
	if p.Target.Before("1.37") {
		return // common_config is the only one, and breaks a constraint if it is missing
	}
	var fields []string
	if m.GetCommonConfig().GetGrpcService() != nil {
		fields = append(fields, "common_config")
	}
	if m.GetGrpcService() != nil {
		fields = append(fields, "grpc_service")
	}
	if m.GetHttpService() != nil {
		fields = append(fields, "http_service")
	}
	switch {
	case len(fields) == 0 && m.GetCommonConfig() == nil:
		p.Reject(at, lint.Rejection{
			Message:  "the access log does not have a service to send to",
			Help:     "add grpc_service or http_service",
			Upstream: "OpenTelemetry access logger requires one of: grpc_service, http_service, or common_config.grpc_service to be configured.",
		})
	case len(fields) > 1:
		p.Reject(at.Field(fields[1]).Key(), lint.Rejection{
			Message:  "the access log has several services",
			Help:     "keep one of them",
			Upstream: "OpenTelemetry access logger can only have one transport configured.",
			Related:  []lint.Related{lint.RelatedTo(at.Field(fields[0]).Key(), "the other one")},
		})
	}
}
