package envoy

import (
	"net"
	"strconv"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/graph"
)

// Addresses returns the addresses of a listener in the form for comparison and display.
func Addresses(r *graph.Resource) (all []string) {
	l, ok := r.Message.(*listenerv3.Listener)
	if !ok {
		return nil
	}
	list := []*corev3.Address{l.GetAddress()}
	for _, more := range l.GetAdditionalAddresses() {
		list = append(list, more.GetAddress())
	}
	for _, address := range list {
		if text := addressText(address); text != "" {
			all = append(all, text)
		}
	}
	return all
}

func addressText(a *corev3.Address) string {
	socket := a.GetSocketAddress()
	switch {
	case a.GetPipe() != nil:
		return a.GetPipe().GetPath()
	case socket == nil:
		return ""
	case socket.GetNamedPort() != "":
		return net.JoinHostPort(socket.GetAddress(), socket.GetNamedPort())
	}
	text := net.JoinHostPort(socket.GetAddress(), strconv.Itoa(int(socket.GetPortValue())))
	if socket.GetProtocol() == corev3.SocketAddress_UDP {
		text += "/udp"
	}
	return text
}
