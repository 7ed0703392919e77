package transition

import (
	"net/netip"
	"slices"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

// socket identifies one from which a listener accepts connections.
type socket struct {
	envoy.ListenSocket
	datagram bool
}

// bound is a socket and the field that declares it.
type bound struct {
	socket
	at lint.At
}

// socketsOf lists the sockets of a listener, except those with port 0: their port is not known.
func socketsOf(r *graph.Resource) (all []bound) {
	l, ok := r.Message.(*listenerv3.Listener)
	if !ok || l.GetInternalListener() != nil || l.GetApiListener() != nil {
		return nil
	}
	at := r.At()
	datagram := l.GetAddress().GetSocketAddress().GetProtocol() == corev3.SocketAddress_UDP
	add := func(a *corev3.Address, at lint.At) {
		if s, ok := envoy.ListenSocketOf(a); ok && (s.Port != 0 || a.GetPipe() != nil) {
			all = append(all, bound{socket{s, datagram}, at})
		}
	}
	add(l.GetAddress(), at.Field("address"))
	for i, more := range l.GetAdditionalAddresses() {
		add(more.GetAddress(), at.Item("additional_addresses", i).Field("address"))
	}
	return all
}

func has(all []bound, s socket) bool {
	return slices.ContainsFunc(all, func(b bound) bool { return b.socket == s })
}

// coveredBy reports whether the other socket also accepts connections to this one: it is the same, or has all addresses of the
// host.
func (s socket) coveredBy(other socket) bool {
	ip, err := netip.ParseAddr(other.Address)
	if err == nil && ip.IsUnspecified() {
		s.Address = other.Address
	}
	return s == other
}

// binds reports whether the listener opens sockets.
func binds(r *graph.Resource) bool {
	l, ok := r.Message.(*listenerv3.Listener)
	return ok && (l.GetBindToPort() == nil || l.GetBindToPort().GetValue())
}

// socketsKept reports whether a listener keeps its sockets in an update (ListenerImpl::hasCompatibleAddress).
func socketsKept(before, after *listenerv3.Listener) bool {
	if !sameOptions(before, after) || len(before.GetAdditionalAddresses()) != len(after.GetAdditionalAddresses()) {
		return false
	}
	for i, a := range before.GetAdditionalAddresses() {
		if !proto.Equal(a.GetSocketOptions(), after.GetAdditionalAddresses()[i].GetSocketOptions()) {
			return false
		}
	}
	return true
}

func sameOptions(a, b *listenerv3.Listener) bool {
	return a.GetTransparent().GetValue() == b.GetTransparent().GetValue() &&
		a.GetFreebind().GetValue() == b.GetFreebind().GetValue() &&
		a.GetTcpFastOpenQueueLength().GetValue() == b.GetTcpFastOpenQueueLength().GetValue() &&
		slices.EqualFunc(a.GetSocketOptions(), b.GetSocketOptions(), func(x, y *corev3.SocketOption) bool { return proto.Equal(x, y) })
}
