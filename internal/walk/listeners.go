package walk

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
)

// Listeners returns the listeners of the snapshot.
func (w *Walker) Listeners() (all []Listener) {
	for _, r := range w.listeners {
		all = append(all, Listener{Name: r.Name, Port: r.Message.(*listenerv3.Listener).GetAddress().GetSocketAddress().GetPortValue()})
	}
	return all
}

// Chains returns the filter chains of a listener.
func (w *Walker) Chains(l Listener) []*listenerv3.FilterChain {
	found, err := w.listenerOf(l)
	if err != nil {
		return nil
	}
	m := found.Message.(*listenerv3.Listener)
	return append(slices.Clone(m.GetFilterChains()), m.GetDefaultFilterChain())
}

// listenerOf finds a listener by its name or port, or the only one. Those for UDP are found by their names alone.
func (w *Walker) listenerOf(wanted Listener) (*graph.Resource, error) {
	var found []*graph.Resource
	var names []string
	for _, r := range w.listeners {
		l := r.Message.(*listenerv3.Listener)
		names = append(names, fmt.Sprintf("%s (port %d)", r.Name, l.GetAddress().GetSocketAddress().GetPortValue()))
		switch {
		case wanted.Name != "":
			if wanted.Name == r.Name {
				return r, nil
			}
		case l.GetUdpListenerConfig() == nil && (wanted.Port == 0 || slices.ContainsFunc(socketsOf(l), func(s *corev3.SocketAddress) bool { return s.GetPortValue() == wanted.Port })):
			found = append(found, r)
		}
	}
	switch {
	case len(names) == 0:
		return nil, fmt.Errorf("the configuration does not have a listener")
	case len(found) == 1:
		return found[0], nil
	}
	return nil, fmt.Errorf("choose one of these listeners: %s", strings.Join(names, ", "))
}

// socketsOf returns the addresses of a listener.
func socketsOf(l *listenerv3.Listener) []*corev3.SocketAddress {
	all := []*corev3.SocketAddress{l.GetAddress().GetSocketAddress()}
	for _, more := range l.GetAdditionalAddresses() {
		all = append(all, more.GetAddress().GetSocketAddress())
	}
	return all
}

// addressed returns the address to which clients of a listener connect, as far as the listener says it.
func addressed(l *listenerv3.Listener) netip.AddrPort {
	own := l.GetAddress().GetSocketAddress()
	if ip, ok := envoy.ParseIP(own.GetAddress()); ok && !ip.IsUnspecified() {
		return netip.AddrPortFrom(ip, uint16(own.GetPortValue()))
	}
	return netip.AddrPortFrom(netip.Addr{}, uint16(own.GetPortValue()))
}

// handOver gives a redirected connection to the listener of the address to which the client connects, if there is one
// (ActiveTcpSocket::newConnection with use_original_dst).
func (j *journey) handOver() bool {
	if !j.listener.GetUseOriginalDst().GetValue() {
		return true
	}
	to := j.conn.Destination
	if !to.Addr().IsValid() {
		j.answer.doubt(unknownChain, "the listener hands connections over to the listener of the address to which the client connects")
		return j.lost()
	}
	taker := j.listenerAt(to)
	if taker == nil || taker == j.at.Resource() {
		return true
	}
	j.answer.Passed = append(j.answer.Passed, Passed{Kind: "listener", Name: j.answer.Listener, Why: "it hands the connection over", At: j.at})
	j.at, j.listener, j.answer.Listener = taker.At(), taker.Message.(*listenerv3.Listener), taker.Name
	return j.inspect()
}

// listenerAt finds the listener of an address, or else of all addresses (ConnectionHandlerImpl::getBalancedHandlerByAddress).
func (w *Walker) listenerAt(to netip.AddrPort) (wildcard *graph.Resource) {
	for _, r := range w.listeners {
		for _, s := range socketsOf(r.Message.(*listenerv3.Listener)) {
			ip, ok := envoy.ParseIP(s.GetAddress())
			switch {
			case !ok || s.GetPortValue() != uint32(to.Port()) || s.GetProtocol() != corev3.SocketAddress_TCP:
			case ip.Unmap() == to.Addr():
				return r
			case ip.IsUnspecified() && ip.Is4() == to.Addr().Is4():
				wildcard = r
			}
		}
	}
	return wildcard
}
