// Package check reports what several groups of rules look for in the messages that they share.
package check

import (
	"fmt"
	"net/netip"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

const ipResolver = "envoy.ip"

// Specifier reports a resolver or a named port that Envoy cannot use
// (resolveProtoSocketAddress). It returns whether it reported anything.
func Specifier(p *lint.Pass, at lint.At, s *corev3.SocketAddress) bool {
	resolver := s.GetResolverName()
	switch {
	case resolver != "" && !envoy.HasAddressResolver(p.Target.Extensions(), resolver):
		p.Reject(at.Field("resolver_name"), lint.Rejection{
			Message:  fmt.Sprintf("Envoy does not have an address resolver %q", resolver),
			Help:     "remove it",
			Upstream: "Unknown address resolver: " + resolver,
		})
	case s.GetNamedPort() != "" && (resolver == "" || resolver == ipResolver):
		p.Reject(at.Field("named_port"), lint.Rejection{
			Message:  "Envoy does not look up named ports",
			Help:     "write port_value with a number",
			Upstream: "IP resolver can't handle port specifier type 4",
		})
	default:
		return false
	}
	return true
}

// IP reports a socket address that is not usable without DNS. It returns the IP address; ok is false if Envoy rejects it or may reject it.
func IP(p *lint.Pass, at lint.At, s *corev3.SocketAddress, help string) (ip netip.Addr, ok bool) {
	if s == nil || Specifier(p, at, s) || s.GetResolverName() != "" && s.GetResolverName() != ipResolver || s.GetAddress() == "" {
		return ip, false
	}
	if envoy.MalformedIP(s.GetAddress()) {
		p.Reject(at.Field("address"), lint.Rejection{
			Message:  fmt.Sprintf("%q is not an IP address", s.GetAddress()),
			Help:     help,
			Upstream: "malformed IP address: " + s.GetAddress(),
		})
	}
	return envoy.ParseIP(s.GetAddress())
}

// AddressHelp returns the help for a malformed address.
func AddressHelp(text string) string {
	switch {
	case text == "localhost":
		return "write 127.0.0.1, or ::1"
	case strings.HasPrefix(text, "["):
		return "remove the brackets"
	case strings.Contains(text, "/"):
		return "write the address alone; the length of a range is its prefix_len"
	case strings.Contains(text, "%"):
		return "remove the zone: only a link-local address can have one, such as fe80::1%eth0"
	case strings.TrimSpace(text) != text:
		return "remove the spaces"
	}
	return "write an IPv4 or IPv6 address, such as 192.0.2.1 or 2001:db8::1"
}
