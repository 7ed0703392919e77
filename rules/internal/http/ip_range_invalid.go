package http

import (
	"fmt"

	"google.golang.org/protobuf/reflect/protoreflect"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/check"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "ip-range-invalid",
	Severity: lint.Error,
	Summary:  "a range of addresses in a filter is not a range of IP addresses",
	Links: []string{
		"InternalAddressConfig::InternalAddressConfig (source/extensions/filters/network/http_connection_manager/config.cc)",
		"IPMatcher::create (source/extensions/filters/common/rbac/matchers.cc)",
		"IpTaggingFilterConfig (source/extensions/filters/http/ip_tagging/ip_tagging_filter.cc)",
		"CidrRange::create (source/common/network/cidr_range.cc)",
	},
	Run: lint.Each(func(p *lint.Pass, at lint.At, r *corev3.CidrRange) {
		text := r.GetAddressPrefix()
		if text == "" || !envoy.MalformedIP(text) { // an empty address violates a constraint
			return
		}
		upstream := malformedRange(at, r)
		if upstream == "" || envoy.RulesIgnored(at.Place) || !envoy.OuterRead(p.Target.Extensions(), at.Place) {
			return
		}
		p.Reject(at.Field("address_prefix"), lint.Rejection{
			Message:  fmt.Sprintf("%q is not an IP address", text),
			Help:     check.AddressHelp(text),
			Upstream: upstream,
		})
	}),
})

// malformedRange returns what Envoy says of a malformed range, or "" if it does not read the range when it loads the configuration, or if
// another rule reports it.
func malformedRange(at lint.At, r *corev3.CidrRange) string {
	field := envoy.FieldOf(at.Place)
	if field == nil {
		return ""
	}
	return map[protoreflect.FullName]string{
		"envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager.InternalAddressConfig.cidr_ranges": invalidCombination(r),
		"envoy.extensions.filters.http.ip_tagging.v3.IPTagging.IPTag.ip_list":                                                 invalidCombination(r),
		"envoy.config.rbac.v3.Permission.destination_ip":                                                                      "Failed to create CIDR range: malformed IP address: " + r.GetAddressPrefix(),
		"envoy.config.rbac.v3.Principal.direct_remote_ip":                                                                     "Failed to create CIDR range: malformed IP address: " + r.GetAddressPrefix(),
		"envoy.config.rbac.v3.Principal.remote_ip":                                                                            "Failed to create CIDR range: malformed IP address: " + r.GetAddressPrefix(),
		"envoy.config.rbac.v3.Principal.source_ip":                                                                            "Failed to create CIDR range: malformed IP address: " + r.GetAddressPrefix(),
		"envoy.extensions.matching.input_matchers.ip.v3.Ip.cidr_ranges":                                                       "malformed IP address: " + r.GetAddressPrefix(),
		"envoy.extensions.rbac.matchers.upstream_ip_port.v3.UpstreamIpPortMatcher.upstream_ip":                                "malformed IP address: " + r.GetAddressPrefix(),
	}[field.FullName()]
}

func invalidCombination(r *corev3.CidrRange) string {
	return fmt.Sprintf("invalid ip/mask combo '%s/%d' (format is <ip>/<# mask bits>)", r.GetAddressPrefix(), r.GetPrefixLen().GetValue())
}
