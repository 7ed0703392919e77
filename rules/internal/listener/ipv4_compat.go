package listener

import (
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "ipv4-compat",
	Severity: lint.Error,
	Summary:  "ipv4_compat on an address that cannot take IPv4 connections",
	Links:    []string{"ListenerImpl::checkIpv4CompatAddress (source/common/listener_manager/listener_impl.cc)"},
	Run: each(func(p *lint.Pass, at lint.At, l *listenerv3.Listener) {
		first := l.GetAddress().GetSocketAddress()
		if first == nil || !ipResolver(first) {
			return
		}
		if _, ok := envoy.ParseIP(first.GetAddress()); !ok || takesIPv4(first) {
			return
		}
		for i, a := range addresses(at, l) {
			if !a.GetSocketAddress().GetIpv4Compat() {
				continue
			}
			message, help := "ipv4_compat is only for the address :: and for IPv4-mapped ones", "remove it, or listen on ::"
			if i > 0 {
				message = "ipv4_compat is on an additional address, but the listener's first address is not ::"
				help = "make :: the first address, or move this one to another listener"
			}
			p.Reject(a.at.Field("socket_address", "ipv4_compat"), lint.Rejection{
				Message:  message,
				Help:     help,
				Upstream: "Only IPv6 address '::' or valid IPv4-mapped IPv6 address can set ipv4_compat",
			})
		}
	}),
})

// takesIPv4 reports whether an address can take connections over IPv4.
func takesIPv4(s *corev3.SocketAddress) bool {
	ip, _ := envoy.ParseIP(s.GetAddress())
	return ip.Is6() && (ip.WithZone("").IsUnspecified() || ip.Is4In6() && s.GetIpv4Compat())
}
