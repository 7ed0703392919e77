package http

import (
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/check"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "http2-settings",
	Severity: lint.Error,
	Summary:  "HTTP/2 settings contradict each other or another limit, or are not supported by Envoy",
	Links: []string{
		"validateCustomSettingsParameters (source/common/http/utility.cc)",
		"https://www.rfc-editor.org/rfc/rfc9113#name-defined-settings",
	},
	Run: each(func(p *lint.Pass, at lint.At, m *hcmv3.HttpConnectionManager) {
		options := at.Field("http2_protocol_options")
		check.HTTP2Settings(p, options, m.GetHttp2ProtocolOptions())
		limit := uint32(defaultHeadersKB)
		if m.GetMaxRequestHeadersKb() != nil {
			limit = m.GetMaxRequestHeadersKb().GetValue()
		}
		check.HeaderFieldSize(p, options, m.GetHttp2ProtocolOptions(), limit, "max_request_headers_kb")
	}),
})

// defaultHeadersKB is Envoy's limit for the headers of a request, in KiB (DEFAULT_MAX_REQUEST_HEADERS_KB).
const defaultHeadersKB = 60
