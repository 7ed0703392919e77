package envoy

import (
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
)

// Public reports whether clients on other machines can connect to an address: it is an IP address other than that of the machine itself.
func Public(a *corev3.Address) bool {
	ip, ok := ParseIP(a.GetSocketAddress().GetAddress())
	return ok && !ip.Unmap().IsLoopback()
}

// TakesClients reports whether clients on other machines can connect to a listener. Requests of a sidecar's own application come to an outbound
// listener, and connections to others to one that is not bound.
func TakesClients(l *listenerv3.Listener) bool {
	bound := (l.GetBindToPort() == nil || l.GetBindToPort().GetValue()) &&
		(l.GetDeprecatedV1().GetBindToPort() == nil || l.GetDeprecatedV1().GetBindToPort().GetValue())
	return bound && l.GetApiListener() == nil && l.GetInternalListener() == nil && l.GetTrafficDirection() != corev3.TrafficDirection_OUTBOUND && Public(l.GetAddress())
}
