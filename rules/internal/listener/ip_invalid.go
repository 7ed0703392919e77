package listener

import (
	"fmt"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/check"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "ip-invalid",
	Severity: lint.Error,
	Summary:  "an address of a listener, or a range of its filter chains, is not an IP address",
	Links: []string{
		"IpResolver::resolve (source/common/network/resolver_impl.cc)",
		"FilterChainManagerImpl::setupFilterChainMatcher (source/common/listener_manager/filter_chain_manager_impl.cc)",
	},
	Run: each(func(p *lint.Pass, at lint.At, l *listenerv3.Listener) {
		for _, a := range addresses(at, l) {
			if s := a.GetSocketAddress(); s != nil && ipResolver(s) && numbered(s) {
				checkIP(p, a.at.Field("socket_address", "address"), s.GetAddress())
			}
		}
		if l.GetFilterChainMatcher() != nil || overUDP(l) && !quicOptions(l) {
			return
		}
		for i, c := range l.GetFilterChains() {
			m, match := c.GetFilterChainMatch(), at.Item("filter_chains", i).Field("filter_chain_match")
			checkRanges(p, match, "prefix_ranges", m.GetPrefixRanges())
			checkRanges(p, match, "source_prefix_ranges", m.GetSourcePrefixRanges())
			checkRanges(p, match, "direct_source_prefix_ranges", m.GetDirectSourcePrefixRanges())
		}
	}),
})

func checkRanges(p *lint.Pass, at lint.At, field string, ranges []*corev3.CidrRange) {
	for i, r := range ranges {
		checkIP(p, at.Item(field, i).Field("address_prefix"), r.GetAddressPrefix())
	}
}

func checkIP(p *lint.Pass, at lint.At, text string) {
	if text == "" || !envoy.MalformedIP(text) { // an empty one breaks a constraint
		return
	}
	p.Reject(at, lint.Rejection{
		Message:  fmt.Sprintf("%q is not an IP address", text),
		Help:     check.ValueHelp(text, check.AddressHelp(text)),
		Upstream: "malformed IP address: " + text,
	})
}
