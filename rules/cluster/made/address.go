package made

import (
	"fmt"
	"net/netip"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/listener/address"
)

const ipResolver = "envoy.ip"

// CheckSpecifier looks at what besides the host an address has that needs resolving, and that Envoy does not resolve
// (resolveProtoSocketAddress). It returns whether something was found.
func CheckSpecifier(p *lint.Pass, at lint.At, s *corev3.SocketAddress) bool {
	resolver := s.GetResolverName()
	switch {
	case resolver != "" && !address.HasResolver(p.Target.Extensions(), resolver):
		p.Refuse(at.Field("resolver_name"), fmt.Sprintf("envoy has no address resolver %q", resolver), "leave it out", "Unknown address resolver: "+resolver)
	case s.GetNamedPort() != "" && (resolver == "" || resolver == ipResolver):
		p.Refuse(at.Field("named_port"), "envoy does not look up named ports", "write port_value, and the number", "IP resolver can't handle port specifier type 4")
	default:
		return false
	}
	return true
}

// CheckIP reports a socket address that Envoy cannot use as it is, without DNS.
func CheckIP(p *lint.Pass, at lint.At, s *corev3.SocketAddress, help string) (ip netip.Addr, ok bool) {
	if s == nil || CheckSpecifier(p, at, s) || s.GetResolverName() != "" && s.GetResolverName() != ipResolver || s.GetAddress() == "" {
		return ip, false
	}
	if address.Malformed(s.GetAddress()) {
		p.Refuse(at.Field("address"), fmt.Sprintf("%q is no IP address", s.GetAddress()), help, "malformed IP address: "+s.GetAddress())
	}
	return address.Parse(s.GetAddress())
}
