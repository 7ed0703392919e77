package http

import (
	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "ext-proc-conflict",
	Severity: lint.Error,
	Summary:  "an ext_proc filter has settings that cannot be combined",
	Links:    []string{"verifyFilterConfig (source/extensions/filters/http/ext_proc/config.cc)"},
	Run: eachConfig(func(p *lint.Pass, at lint.At, m *extprocv3.ExternalProcessor) {
		if (m.GetGrpcService() == nil) == (m.GetHttpService() == nil) {
			p.Reject(at, lint.Rejection{
				Message:  "ext_proc needs one service: grpc_service or http_service",
				Help:     "set exactly one of them",
				Upstream: "One and only one of grpc_service or http_service must be configured",
			})
		}
		if m.GetDisableClearRouteCache() && m.GetRouteCacheAction() != extprocv3.ExternalProcessor_DEFAULT {
			p.Reject(at.Field("disable_clear_route_cache").Key(), lint.Rejection{
				Message:  "disable_clear_route_cache cannot be combined with route_cache_action",
				Help:     "remove disable_clear_route_cache; route_cache_action: RETAIN means the same",
				Upstream: "disable_clear_route_cache and route_cache_action can not be set to none-default at the same time.",
				Related:  []lint.Related{lint.RelatedTo(at.Field("route_cache_action").Key(), "the other one")},
			})
		}
		checkModes(p, at, m)
	}),
})

// direction is one half of a processing mode.
type direction struct {
	name    string
	body    extprocv3.ProcessingMode_BodySendMode
	trailer extprocv3.ProcessingMode_HeaderSendMode
}

// checkModes reports modes that the service cannot have (verifyProcessingModeConfig).
func checkModes(p *lint.Pass, at lint.At, m *extprocv3.ExternalProcessor) {
	mode, own := m.GetProcessingMode(), at.Field("processing_mode")
	for _, d := range []direction{
		{"request", mode.GetRequestBodyMode(), mode.GetRequestTrailerMode()},
		{"response", mode.GetResponseBodyMode(), mode.GetResponseTrailerMode()},
	} {
		sends := d.trailer == extprocv3.ProcessingMode_SEND
		switch {
		case m.GetHttpService() != nil && d.body != extprocv3.ProcessingMode_NONE:
			rejectHTTPMode(p, own.Field(d.name+"_body_mode").Key(), "the body")
		case m.GetHttpService() != nil && sends:
			rejectHTTPMode(p, own.Field(d.name+"_trailer_mode").Key(), "trailers")
		case d.body == extprocv3.ProcessingMode_FULL_DUPLEX_STREAMED && !sends:
			p.Reject(own.Field(d.name+"_body_mode").Key(), lint.Rejection{
				Message:  "FULL_DUPLEX_STREAMED needs " + d.name + "_trailer_mode: SEND",
				Help:     "add " + d.name + "_trailer_mode: SEND",
				Upstream: "the " + d.name + "_trailer_mode has to be set to SEND",
			})
		}
	}
}

func rejectHTTPMode(p *lint.Pass, at lint.At, what string) {
	p.Reject(at, lint.Rejection{
		Message:  "with http_service, ext_proc does not send " + what,
		Help:     "remove the mode, or use grpc_service",
		Upstream: "If the ext_proc filter is configured with http_service instead of gRPC service, then the processing modes of this filter can not be configured to send body or trailer.",
	})
}
