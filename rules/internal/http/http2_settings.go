package http

import (
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/check"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "http2-settings",
	Severity: lint.Error,
	Summary:  "custom HTTP/2 settings contradict each other, a named field, or what Envoy can do",
	Why: "`custom_settings_parameters`" + ` are put into HTTP/2's SETTINGS frame as they are. Envoy refuses one that

- has the identifier of another one, and a different value;
- has a field of its own, which is set too: 1 is ` + "`hpack_table_size`, 3 `max_concurrent_streams`, 4 `initial_stream_window_size`" + `;
- switches on server push (2), which Envoy does not have;
- is 8, ENABLE_CONNECT_PROTOCOL: the field for that is ` + "`allow_connect`" + `.

It looks at them even where ` + "`codec_type`" + ` is HTTP1.`,
	Links: []string{"validateCustomSettingsParameters (source/common/http/utility.cc)", "https://www.rfc-editor.org/rfc/rfc9113#name-defined-settings"},
	Run: each(func(p *lint.Pass, at lint.At, m *hcmv3.HttpConnectionManager) {
		check.HTTP2Settings(p, at.Field("http2_protocol_options"), m.GetHttp2ProtocolOptions())
	}),
})
