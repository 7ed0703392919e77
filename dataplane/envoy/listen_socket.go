package envoy

import (
	"net/netip"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
)

// ListenSocket is the part of a listener's address that Envoy compares.
type ListenSocket struct {
	Address   string // an IP address, or "unix:" and a path
	Port      uint32
	Namespace string
}

// ListenSocketOf returns the socket of an address. ok is false if a resolver has to find it.
func ListenSocketOf(a *corev3.Address) (socket ListenSocket, ok bool) {
	if pipe := a.GetPipe(); pipe != nil {
		return ListenSocket{Address: "unix:" + pipe.GetPath()}, pipe.GetPath() != ""
	}
	s := a.GetSocketAddress()
	if _, numbered := s.GetPortSpecifier().(*corev3.SocketAddress_PortValue); s == nil || s.GetResolverName() != "" || !numbered {
		return ListenSocket{}, false
	}
	ip, err := netip.ParseAddr(s.GetAddress())
	if err != nil {
		return ListenSocket{}, false
	}
	return ListenSocket{Address: ip.String(), Port: s.GetPortValue(), Namespace: s.GetNetworkNamespaceFilepath()}, true
}

// String returns the socket as people write it: 10.0.0.1:80.
func (s ListenSocket) String() string {
	if ip, err := netip.ParseAddr(s.Address); err == nil {
		return netip.AddrPortFrom(ip, uint16(s.Port)).String()
	}
	return s.Address
}

// Binds reports whether a listener binds its addresses (shouldBindToPort in source/common/listener_manager/listener_impl.cc).
func Binds(l *listenerv3.Listener) bool {
	return (l.GetBindToPort() == nil || l.GetBindToPort().GetValue()) &&
		(l.GetDeprecatedV1().GetBindToPort() == nil || l.GetDeprecatedV1().GetBindToPort().GetValue())
}
