package route

import (
	"fmt"

	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/check"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "address-range-invalid",
	Severity: lint.Error,
	Summary:  "a route matches an invalid range of addresses",
	Links:    []string{"IpList::create (source/common/network/cidr_range.cc)"},
	Run: lint.Each(func(p *lint.Pass, at lint.At, m *matcherv3.AddressMatcher) {
		for i, r := range m.GetRanges() {
			text := r.GetAddressPrefix()
			if text == "" || !envoy.MalformedIP(text) { // an empty address violates a constraint
				continue
			}
			if _, ok := tableOf(p, at); ok {
				p.Reject(at.Item("ranges", i).Field("address_prefix"), lint.Rejection{
					Message:  fmt.Sprintf("%q is not an IP address", text),
					Help:     check.AddressHelp(text),
					Upstream: fmt.Sprintf("invalid ip/mask combo '%s/%d' (format is <ip>/<# mask bits>)", text, r.GetPrefixLen().GetValue()),
				})
			}
		}
	}),
})
