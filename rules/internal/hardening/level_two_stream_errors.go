package hardening

import (
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "level-two-stream-errors",
	Profiles: map[lint.Profile]lint.Severity{lint.Mesh: lint.Info, lint.Internal: lint.Info},
	Summary:  "an invalid request of one client ends the requests of others that came over the same connection",
	Links:    []string{"https://www.envoyproxy.io/docs/envoy/latest/configuration/best_practices/level_two"},
	Run: eachManager(func(p *lint.Pass, at lint.At, m *hcmv3.HttpConnectionManager) {
		if m.GetStreamErrorOnInvalidHttpMessage().GetValue() || m.GetHttp2ProtocolOptions().GetOverrideStreamErrorOnInvalidHttpMessage() != nil {
			return
		}
		p.Report(at.Field("stream_error_on_invalid_http_message"), lint.Diagnostic{
			Message: "an invalid request closes the connection, with all other requests in it",
			Notes:   []string{"the proxy in front sends the requests of many clients over one HTTP/2 connection, and may let through what Envoy rejects"},
			Help:    "set stream_error_on_invalid_http_message: true",
			Fixes:   write(at, "stream_error_on_invalid_http_message", true).Safe("end only the invalid request"),
		})
	}),
})
