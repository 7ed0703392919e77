package walk

import (
	"errors"
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
	if wanted.Name != "" {
		if found := w.named[wanted.Name]; found != nil {
			return found, nil
		}
	} else if found := w.ports[wanted.Port]; len(found) == 1 {
		return found[0], nil
	}
	if len(w.listeners) == 0 {
		return nil, errors.New("the configuration does not have a listener")
	}
	var names []string
	for _, l := range w.Listeners() {
		names = append(names, fmt.Sprintf("%s (port %d)", l.Name, l.Port))
	}
	return nil, fmt.Errorf("choose one of these listeners: %s", strings.Join(names, ", "))
}

// listen notes a listener, by its name and its ports.
func (w *Walker) listen(r *graph.Resource, l *listenerv3.Listener) {
	w.listeners = append(w.listeners, r)
	if w.named[r.Name] == nil {
		w.named[r.Name] = r
	}
	if l.GetUdpListenerConfig() != nil {
		return
	}
	ports := map[uint32]bool{0: true}
	for _, s := range socketsOf(l) {
		ports[s.GetPortValue()] = true
	}
	for port := range ports {
		w.ports[port] = append(w.ports[port], r)
	}
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
