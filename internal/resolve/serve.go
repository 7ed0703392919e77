package resolve

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	routerv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/graph"
)

// serve returns what a server does with an RPC (listenerWrapper.Accept, RouteAndProcess, gRFCs A36 and A41).
func (r *Resolver) serve(rpc *RPC) (*Answer, error) {
	listener, err := r.serverListener(rpc)
	if err != nil {
		return nil, err
	}
	s := &serving{walk: &walk{Resolver: r, rpc: rpc, answer: &Answer{Listener: listener.Name}, metadata: rpc.metadata()}}
	if err := s.walkFrom(listener); err != nil {
		return nil, err
	}
	return s.answer, s.lacks
}

// serverListener finds the listener of a server.
func (r *Resolver) serverListener(rpc *RPC) (*graph.Resource, error) {
	var all []*graph.Resource
	for _, resource := range r.view.All(graph.Listener) {
		l, ok := resource.Message.(*listenerv3.Listener)
		port := l.GetAddress().GetSocketAddress().GetPortValue()
		if ok && resource.Delivery == graph.OverXDS && l.GetApiListener() == nil && (rpc.Listener == "" || rpc.Listener == resource.Name) && (rpc.Port == 0 || rpc.Port == port) {
			all = append(all, resource)
		}
	}
	switch len(all) {
	case 0:
		return nil, errors.New("there is no such listener of a server")
	case 1:
		return all[0], nil
	}
	return nil, fmt.Errorf("%d listeners are for servers: name one with --listener", len(all))
}

// serving is the walk of an RPC that comes to a server.
type serving struct {
	*walk
	conn  grpc.Connection
	port  uint32
	tls   *tlsv3.DownstreamTlsContext // of the filter chain; nil: none
	lacks error                       // what the answer depends on, and the RPC does not say
}

// closes adds the only way of an RPC whose connection the server closes.
func (s *serving) closes(why string) {
	s.add(&Way{Share: 1, Why: "the server closes the connection: " + why}, unavailable, "")
}

func (s *serving) walkFrom(listener *graph.Resource) error {
	l, at, missing := find[*listenerv3.Listener](s.walk, graph.Listener, listener.Name)
	if missing != nil {
		s.closes(missing.why)
		return nil
	}
	if faults := s.client.ServerAddress(at, l); len(faults) > 0 {
		s.closes(faults[0].Message)
		return nil
	}
	if err := s.connect(l); err != nil {
		return err
	}
	chain := s.client.ChainFor(at, l, s.conn)
	if chain.Config == nil {
		s.closes(chain.Why)
		return nil
	}
	s.answer.FilterChain = chainName(chain)
	if why := s.handshake(chain); why != "" {
		s.closes(why)
		return nil
	}
	s.manager, _ = chain.Manager() // a chain without one is rejected
	if missing := s.readTable(); missing != nil {
		s.add(&Way{Share: 1, Why: missing.why}, unavailable, "error from xDS configuration for matched route configuration")
		return nil
	}
	s.answer.RouteConfig = s.table.GetName()
	i := s.findHost()
	if i < 0 {
		s.add(&Way{Share: 1}, unavailable, "the incoming RPC did not match a configured Virtual Host")
		return nil
	}
	s.answer.VirtualHost = s.table.GetVirtualHosts()[i].GetName()
	s.chooseRoute(i, s.handle, "the incoming RPC did not match a configured Route")
	return nil
}

// connect reads the addresses of the connection. They must be given if the choice of a filter chain depends on them.
func (s *serving) connect(l *listenerv3.Listener) error {
	socket := l.GetAddress().GetSocketAddress()
	s.port = socket.GetPortValue()
	s.conn.Destination, _ = netip.ParseAddr(socket.GetAddress())
	if s.conn.Destination.IsUnspecified() {
		s.conn.Destination = netip.Addr{}
	}
	if s.rpc.Destination != "" {
		to, err := addrPort(s.rpc.Destination)
		if err != nil {
			return err
		}
		s.conn.Destination, s.port = to.Addr(), cmp.Or(uint32(to.Port()), s.port)
	}
	if s.rpc.Source != "" {
		from, err := addrPort(s.rpc.Source)
		if err != nil {
			return err
		}
		s.conn.Source = from
	}
	for _, chain := range l.GetFilterChains() {
		m := chain.GetFilterChainMatch()
		switch {
		case !s.conn.Source.IsValid() && (m.GetSourceType() != 0 || len(m.GetSourcePrefixRanges()) > 0 || len(m.GetSourcePorts()) > 0):
			return errNoSource
		case !s.conn.Destination.IsValid() && len(m.GetPrefixRanges()) > 0:
			return errNoDestination
		}
	}
	s.host = cmp.Or(s.rpc.Authority, net.JoinHostPort(socket.GetAddress(), strconv.Itoa(int(s.port))))
	s.metadata[":authority"] = []string{s.host}
	s.metadata["content-type"] = []string{"application/grpc"}
	return nil
}

var (
	errNoSource      = errors.New("the answer depends on the address of the client: give it with --source")
	errNoDestination = errors.New("the answer depends on the address to which the client connects: give it with --destination")
)

// addrPort reads an address with or without a port.
func addrPort(text string) (netip.AddrPort, error) {
	if a, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
		return netip.AddrPortFrom(a.Unmap(), 0), nil
	}
	a, err := netip.ParseAddrPort(text)
	if err != nil {
		return a, fmt.Errorf("%q is not an IP address, with or without a port", text)
	}
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()), nil
}

func chainName(c grpc.Chain) string {
	if c.Config.GetName() != "" {
		return c.Config.GetName()
	}
	return c.At.Path().String()
}

// handshake reads the TLS context of a filter chain. It says why the server ends the connection, or returns "".
func (s *serving) handshake(c grpc.Chain) string {
	at := c.At.Field("transport_socket", "typed_config")
	s.tls, _ = at.Content(c.Config.GetTransportSocket().GetTypedConfig()).(*tlsv3.DownstreamTlsContext)
	if s.tls.GetRequireClientCertificate().GetValue() && s.rpc.ClientCert == "" {
		return "it requires a certificate of the client"
	}
	return ""
}

// handle ends a way at the handler of the server, or at a filter (interceptorList.InterceptRPC).
func (s *serving) handle(way *Way, r *routev3.Route, levels []grpc.Level) {
	if _, ok := r.GetAction().(*routev3.Route_NonForwardingAction); !ok {
		s.add(way, unavailable, "the incoming RPC matched to a route that was not of action type non forwarding")
		return
	}
	way.RetryOn = nil
	for _, f := range s.client.Filters(s.manager, levels...) {
		switch m := f.Config.(type) {
		case *routerv3.Router:
		case *rbacv3.RBAC:
			if message := s.authorize(m.GetRules()); message != "" {
				way.Why = fmt.Sprintf("the filter %s rejects the RPC", f.Name)
				s.add(way, "PERMISSION_DENIED", message)
				return
			}
		case *rbacv3.RBACPerRoute:
			if message := s.authorize(m.GetRbac().GetRules()); message != "" {
				way.Why = fmt.Sprintf("the filter %s rejects the RPC", f.Name)
				s.add(way, "PERMISSION_DENIED", message)
				return
			}
		}
	}
	s.add(way, answered, "")
}
