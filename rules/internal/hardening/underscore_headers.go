package hardening

import (
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "underscore-headers",
	Profiles: map[lint.Profile]lint.Severity{lint.Edge: lint.Warning},
	Summary:  "header names with underscores pass, which upstreams can take for names with hyphens",
	Links: []string{
		edgeDocs,
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/core/v3/protocol.proto#enum-config-core-v3-httpprotocoloptions-headerswithunderscoresaction",
	},
	Run: eachManager(func(p *lint.Pass, at lint.At, m *hcmv3.HttpConnectionManager) {
		if m.GetCommonHttpProtocolOptions().GetHeadersWithUnderscoresAction() != corev3.HttpProtocolOptions_ALLOW {
			return
		}
		p.Report(at.Field("common_http_protocol_options", "headers_with_underscores_action"), lint.Diagnostic{
			Message: "a client can send x_user, which an upstream may read as x-user",
			Notes:   []string{"Envoy does not remove or replace x_user when it removes or replaces x-user"},
			Help:    "set headers_with_underscores_action: REJECT_REQUEST",
			Fixes:   writeIn(at, "common_http_protocol_options", lint.Fields{{Name: "headers_with_underscores_action", Value: "REJECT_REQUEST"}}).Likely("reject such requests"),
		})
	}),
})
