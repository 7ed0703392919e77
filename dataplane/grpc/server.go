package grpc

import (
	"fmt"
	"net/netip"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/graph"
)

// ServerListener checks the fields of a listener for a server (processServerSideListener, gRFC A36).
func (c Client) ServerListener(at graph.At, l *listenerv3.Listener) (all []Fault) {
	if l.GetApiListener() != nil {
		return nil
	}
	if len(l.GetListenerFilters()) > 0 {
		all = append(all, rejected(at.Field("listener_filters"), "a server of gRPC does not have listener filters", "unsupported field 'listener_filters'", "remove them")...)
	}
	if d := l.GetUseOriginalDst(); d.GetValue() || d != nil && c.is(Java) {
		all = append(all, rejected(at.Field("use_original_dst"), "a server of gRPC does not support use_original_dst", "unsupported field 'use_original_dst'", "remove it")...)
	}
	if d := l.GetTrafficDirection(); d == corev3.TrafficDirection_OUTBOUND && c.is(Java) {
		all = append(all, rejected(at.Field("traffic_direction"), "the listener of a server is OUTBOUND", "", "write INBOUND, or remove it")...)
	}
	all = append(all, c.serverAddress(at, l.GetAddress())...)
	if len(c.chains(at, l)) == 0 && !c.is(Java) {
		all = append(all, rejected(at, "the listener has no filter chain that gRPC uses", "no supported filter chains and no default filter chain", "add a filter chain without a match, or a default_filter_chain")...)
	}
	return all
}

func (c Client) serverAddress(at graph.At, a *corev3.Address) []Fault {
	const help = "write the socket_address on which the server listens"
	socket, where := a.GetSocketAddress(), at.Field("address", "socket_address")
	_, named := socket.GetPortSpecifier().(*corev3.SocketAddress_NamedPort)
	switch {
	case a == nil && !c.is(Java):
		return rejected(at, "the listener has no address", "no address field in LDS response", help)
	case socket == nil && !c.is(Java):
		return rejected(at.Field("address"), "the address of the listener is not a socket_address", "no socket_address field in LDS response", help)
	case named && c.is(Java):
		return rejected(where.Field("named_port"), "gRPC does not look up the names of ports", "", "write port_value")
	case socket != nil && socket.GetAddress() == "" && c.is(Java):
		return rejected(where, "the listener has no address", "", help)
	case socket.GetProtocol() == corev3.SocketAddress_UDP && c.is(Core):
		return rejected(where.Field("protocol"), "a server of gRPC does not listen on UDP", "", "write TCP, or remove it")
	}
	return nil
}

// filterChain is a filter chain of a listener, and its place.
type filterChain struct {
	at     graph.At
	config *listenerv3.FilterChain
}

func chainsOf(at graph.At, l *listenerv3.Listener) (all []filterChain) {
	for i, chain := range l.GetFilterChains() {
		all = append(all, filterChain{at.Item("filter_chains", i), chain})
	}
	return all
}

// chains returns the filter chains of a server that it validates: in Go, those that it keeps, and the default one.
func (c Client) chains(at graph.At, l *listenerv3.Listener) (all []filterChain) {
	if l.GetApiListener() != nil {
		return nil
	}
	if all = c.keeping(at, l).valid(); c.is(Java, Core) {
		all = chainsOf(at, l)
	}
	if l.GetDefaultFilterChain() != nil {
		all = append(all, filterChain{at.Field("default_filter_chain"), l.GetDefaultFilterChain()})
	}
	return all
}

// keeping returns what a server makes of its filter chains, without the default one.
func (c Client) keeping(at graph.At, l *listenerv3.Listener) *chains {
	kept := newChains(c)
	for _, chain := range chainsOf(at, l) {
		kept.add(chain)
	}
	return kept
}

// ChainMatches checks which connections the filter chains of a server match (buildFilterChainMap, gRFC A36).
func (c Client) ChainMatches(at graph.At, l *listenerv3.Listener) (all []Fault) {
	if l.GetApiListener() != nil {
		return nil
	}
	kept, names := newChains(c), map[string]bool{}
	for _, chain := range chainsOf(at, l) {
		kept.add(chain)
		if name := chain.config.GetName(); name != "" && names[name] && c.is(Java) {
			all = append(all, rejected(chain.at.Field("name"), fmt.Sprintf("another filter chain before this one is named %q", name), "", "give each filter chain another name")...)
		}
		names[chain.config.GetName()] = true
	}
	return append(all, kept.faults...)
}

// ChainsDropped reports filter chains that no connection can match (buildFilterChainMap, gRFC A36).
func (c Client) ChainsDropped(at graph.At, l *listenerv3.Listener) []Fault {
	if l.GetApiListener() != nil {
		return nil
	}
	return c.keeping(at, l).drops
}

// NetworkFilters checks the network filters of a server (processNetworkFilters, gRFC A36).
func (c Client) NetworkFilters(at graph.At, l *listenerv3.Listener) (all []Fault) {
	for _, chain := range c.chains(at, l) {
		all = append(all, c.networkFilters(chain)...)
	}
	return all
}

func (c Client) networkFilters(chain filterChain) (all []Fault) {
	const help = "write an HTTP connection manager with a typed_config"
	managers, seen := 0, map[string]bool{}
	for i, f := range chain.config.GetFilters() {
		at := chain.at.Item("filters", i)
		switch kind := typeName(f.GetTypedConfig()); {
		case f.GetName() == "" && c.is(Go):
			all = append(all, rejected(at, "a network filter has no name", "is missing name field in filter", "give it a name")...)
		case seen[f.GetName()] && c.is(Go):
			all = append(all, rejected(at.Field("name"), fmt.Sprintf("another network filter before this one is named %q", f.GetName()), "has duplicate filter name", "remove one of the two")...)
		case kind == "":
			all = append(all, rejected(at, "a network filter has no typed_config", "has unsupported config_type", help)...)
		case kind != managerType:
			all = append(all, rejected(at.Field("typed_config"), fmt.Sprintf("gRPC does not support the network filter %s", kind), "has unsupported network filter", help)...)
		default:
			if managers++; managers == 2 && !c.is(Go) {
				all = append(all, rejected(at, "the filter chain has more than one network filter", "", "keep one")...)
			}
		}
		seen[f.GetName()] = true
	}
	if len(chain.config.GetFilters()) == 0 {
		all = append(all, rejected(chain.at, "the filter chain has no HTTP connection manager", "missing HttpConnectionManager filter", help)...)
	}
	return all
}

// prefixes parses ranges of addresses (parsePrefixRanges). Without ranges, it returns the zero prefix, which means all addresses.
func (c Client) prefixes(at graph.At, field string, ranges []*corev3.CidrRange) (all []netip.Prefix, faults []Fault) {
	for i, r := range ranges {
		at, bits := at.Item(field, i), int(r.GetPrefixLen().GetValue())
		addr, err := netip.ParseAddr(r.GetAddressPrefix())
		if err != nil {
			return nil, rejected(at.Field("address_prefix"), fmt.Sprintf("%q is not an IP address", r.GetAddressPrefix()), "invalid address", "write an IP address")
		}
		addr = addr.Unmap()
		if bits > addr.BitLen() && c.is(Core) {
			bits = addr.BitLen()
		}
		prefix := netip.PrefixFrom(addr, bits).Masked()
		if !prefix.IsValid() {
			return nil, rejected(at.Field("prefix_len"), fmt.Sprintf("a range of %s cannot have the length %d", r.GetAddressPrefix(), bits), fmt.Sprintf("length %d is invalid", bits), fmt.Sprintf("write at most %d", addr.BitLen()))
		}
		all = append(all, prefix)
	}
	if len(all) == 0 {
		all = []netip.Prefix{{}}
	}
	return all, nil
}
