package hardening

import (
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "use-remote-address",
	Profiles: map[lint.Profile]lint.Severity{lint.Edge: lint.Warning},
	Summary:  "an edge proxy takes the address of its clients from a header that they write",
	Links: []string{
		edgeDocs,
		"https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_conn_man/headers#x-forwarded-for",
		"https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_conn_man/header_sanitizing",
	},
	Run: eachManager(func(p *lint.Pass, at lint.At, m *hcmv3.HttpConnectionManager) {
		if m.GetUseRemoteAddress().GetValue() || len(m.GetOriginalIpDetectionExtensions()) > 0 {
			return
		}
		p.Report(at.Field("use_remote_address"), lint.Diagnostic{
			Message: "clients state their own address in x-forwarded-for",
			Notes:   []string{"without use_remote_address, Envoy treats requests as if a trusted proxy had sent them, and keeps x-forwarded-proto too"},
			Help:    "set use_remote_address: true; behind a load balancer that writes x-forwarded-for, set xff_num_trusted_hops too",
			Fixes:   write(at, "use_remote_address", true).Likely("use the address of the connection"),
		})
	}),
})
