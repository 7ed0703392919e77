package http

import (
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "xfcc-forwarded",
	Severity: lint.Warning,
	Summary:  "an edge proxy forwards the client certificate header that the client itself wrote",
	Links: []string{
		"ConnectionManagerUtility::mutateXfccRequestHeader (source/common/http/conn_manager_utility.cc)",
		"https://github.com/envoyproxy/envoy/issues/41658",
	},
	Run: eachManager(func(p *lint.Pass, at lint.At, m *hcmv3.HttpConnectionManager) {
		if m.GetForwardClientCertDetails() != hcmv3.HttpConnectionManager_ALWAYS_FORWARD_ONLY || !m.GetUseRemoteAddress().GetValue() || m.GetXffNumTrustedHops() > 0 {
			return // behind another proxy, that one may have written the header
		}
		p.Report(at.Field("forward_client_cert_details"), lint.Diagnostic{
			Message: "upstreams get the x-forwarded-client-cert that the client sent",
			Notes:   []string{"use_remote_address says that clients connect directly: each of them can claim any certificate"},
			Help:    "write SANITIZE, the default; or SANITIZE_SET if clients have certificates",
			Fixes:   lint.Replace(at.Field("forward_client_cert_details"), "SANITIZE").Likely("write SANITIZE"),
		})
	}),
})
