package http

import (
	"fmt"

	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/check"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "ip-range-invalid",
	Severity: lint.Error,
	Summary:  "a range of internal addresses is not a range of IP addresses",
	Links:    []string{"InternalAddressConfig::InternalAddressConfig (source/extensions/filters/network/http_connection_manager/config.cc)"},
	Run: each(func(p *lint.Pass, at lint.At, m *hcmv3.HttpConnectionManager) {
		for i, r := range m.GetInternalAddressConfig().GetCidrRanges() {
			text := r.GetAddressPrefix()
			if text == "" || !envoy.MalformedIP(text) { // an empty address violates a constraint
				continue
			}
			p.Reject(at.Field("internal_address_config").Item("cidr_ranges", i).Field("address_prefix"), lint.Rejection{
				Message:  fmt.Sprintf("%q is not an IP address", text),
				Help:     check.AddressHelp(text),
				Upstream: fmt.Sprintf("invalid ip/mask combo '%s/%d' (format is <ip>/<# mask bits>)", text, r.GetPrefixLen().GetValue()),
			})
		}
	}),
})
