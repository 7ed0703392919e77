package hardening

import (
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "edge-timeouts",
	Profiles: map[lint.Profile]lint.Severity{lint.Edge: lint.Warning},
	Summary:  "a client can hold a connection or a stream for as long as it likes",
	Links:    []string{edgeDocs, timeoutsDocs},
	Run: eachManager(func(p *lint.Pass, at lint.At, m *hcmv3.HttpConnectionManager) {
		if m.GetRequestTimeout() == nil {
			p.Report(at.Field("request_timeout"), lint.Diagnostic{
				Message: "a client may take as long as it likes to send the body of a request",
				Notes:   []string{"stream_idle_timeout begins again with each part of the body, and there is no request_timeout"},
				Help:    "set request_timeout: 300s; or 0s, if requests are streams",
				Fixes:   lint.Insert(at, "request_timeout", "300s").Likely("limit the time of a request to that of the documentation"),
			})
		}
		if off(m.GetStreamIdleTimeout()) && !limited(m.GetRequestTimeout()) && !limited(m.GetRequestHeadersTimeout()) {
			p.Report(at.Field("stream_idle_timeout"), lint.Diagnostic{
				Message: "a client may take as long as it likes to send the headers of a request",
				Notes:   []string{"0s turns off the default of five minutes, and there is no request_headers_timeout"},
				Help:    "set request_headers_timeout, for example to 10s",
			})
		}
		if off(m.GetCommonHttpProtocolOptions().GetIdleTimeout()) {
			p.Report(at.Field("common_http_protocol_options", "idle_timeout"), lint.Diagnostic{
				Message: "connections without requests are never closed",
				Notes:   []string{"0s turns off the default of one hour, and each idle connection keeps its memory"},
				Help:    "remove idle_timeout, or set it to at most one hour",
				Fixes:   lint.Replace(at.Field("common_http_protocol_options", "idle_timeout"), "3600s").Likely("close idle connections after an hour"),
			})
		}
	}),
})

// off reports whether a timeout is turned off.
func off(d *durationpb.Duration) bool { return d != nil && !limited(d) }

// limited reports whether a timeout is set and on.
func limited(d *durationpb.Duration) bool { return d.AsDuration() > 0 }
