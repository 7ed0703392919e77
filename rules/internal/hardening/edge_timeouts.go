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
		if !limited(m.GetRequestTimeout()) && !limited(m.GetRequestHeadersTimeout()) {
			d := lint.Diagnostic{
				Message: "a client may take as long as it likes to send a request",
				Notes:   []string{"stream_idle_timeout begins again with each byte, and there is neither a request_timeout nor a request_headers_timeout"},
				Help:    "set request_timeout: 300s; or, if requests are streams, only request_headers_timeout",
			}
			if m.GetRequestTimeout() == nil {
				d.Fixes = lint.Insert(at, "request_timeout", "300s").Likely("limit the time of a request to that of the documentation")
			}
			p.Report(at.Field("request_timeout"), d)
		}
		if idle := m.GetCommonHttpProtocolOptions().GetIdleTimeout(); idle != nil && !limited(idle) {
			p.Report(at.Field("common_http_protocol_options", "idle_timeout"), lint.Diagnostic{
				Message: "connections without requests are never closed",
				Notes:   []string{"0s turns off the default of one hour, and each idle connection keeps its memory"},
				Help:    "remove idle_timeout, or set it to at most one hour",
				Fixes:   lint.Replace(at.Field("common_http_protocol_options", "idle_timeout"), "3600s").Likely("close idle connections after an hour"),
			})
		}
	}),
})

// limited reports whether a timeout is set and on.
func limited(d *durationpb.Duration) bool { return d.AsDuration() > 0 }
