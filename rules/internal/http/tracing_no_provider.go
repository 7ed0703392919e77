package http

import (
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "tracing-no-provider",
	Severity: lint.Warning,
	Summary:  "a connection manager traces, but does not have a provider",
	Links:    []string{"https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/observability/tracing"},
	Run: eachManager(func(p *lint.Pass, at lint.At, m *hcmv3.HttpConnectionManager) {
		boot, _ := p.Snapshot.Bootstrap()
		if m.GetTracing() == nil || m.GetTracing().GetProvider() != nil || boot == nil || boot.GetTracing() != nil {
			return
		}
		p.Report(at.Field("tracing").Key(), lint.Diagnostic{
			Message: "tracing does not have a provider, so there are no spans",
			Notes:   []string{"Envoy makes no span and does not pass on a trace context of its own"},
			Help:    "add provider, such as envoy.tracers.opentelemetry; or remove tracing",
		})
	}),
})
