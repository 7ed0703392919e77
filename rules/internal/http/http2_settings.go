package http

import (
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/check"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "http2-settings",
	Severity: lint.Error,
	Summary:  "custom HTTP/2 settings contradict each other or a named field, or are not supported by Envoy",
	Links: []string{
		"validateCustomSettingsParameters (source/common/http/utility.cc)",
		"https://www.rfc-editor.org/rfc/rfc9113#name-defined-settings",
	},
	Run: each(func(p *lint.Pass, at lint.At, m *hcmv3.HttpConnectionManager) {
		check.HTTP2Settings(p, at.Field("http2_protocol_options"), m.GetHttp2ProtocolOptions())
	}),
})
