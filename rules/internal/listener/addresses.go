package listener

import (
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/lint"
)

// bound is an address that a listener listens on, with its place.
type bound struct {
	*corev3.Address
	at lint.At
}

// addresses returns the addresses of a listener with sockets, the main one first.
func addresses(at lint.At, l *listenerv3.Listener) []bound {
	if l.GetInternalListener() != nil {
		return nil
	}
	all := []bound{{l.GetAddress(), at.Field("address")}}
	for i, a := range l.GetAdditionalAddresses() {
		all = append(all, bound{a.GetAddress(), at.Item("additional_addresses", i).Field("address")})
	}
	return all
}

// ipResolver reports whether Envoy reads an address with the resolver that accepts only IP addresses.
func ipResolver(s *corev3.SocketAddress) bool {
	return s.GetResolverName() == "" || s.GetResolverName() == "envoy.ip"
}

func numbered(s *corev3.SocketAddress) bool {
	_, named := s.GetPortSpecifier().(*corev3.SocketAddress_NamedPort)
	return !named
}
