package grpc

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/graph"
)

// Connection is one that a server accepts. A source port of 0 is one that no filter chain names.
type Connection struct {
	Source      netip.AddrPort
	Destination netip.Addr
}

// Chain is the filter chain for a connection.
type Chain struct {
	At     graph.At
	Config *listenerv3.FilterChain // nil: the server closes the connection
	Why    string                  // it does
}

// ChainFor returns the filter chain of a server of grpc-go for a connection (filterChainManager.lookup). The listener is one that it accepts.
func (c Client) ChainFor(at graph.At, l *listenerv3.Listener, conn Connection) Chain {
	otherwise := Chain{Why: "no filter chain matches it"}
	if chain := l.GetDefaultFilterChain(); chain != nil {
		otherwise = Chain{At: at.Field("default_filter_chain"), Config: chain}
	}
	entries := slices.DeleteFunc(c.keeping(at, l).entries, func(d *destination) bool { return len(d.sources) == 0 })
	if everywhere(l) {
		entries = mostSpecific(entries, func(d *destination) netip.Prefix { return d.prefix }, conn.Destination)
	}
	found := mostSpecific(candidates(entries, kindOf(conn)), func(s candidate) netip.Prefix { return s.prefix }, conn.Source.Addr())
	switch {
	case len(found) == 0:
		return otherwise
	case len(found) > 1:
		return Chain{Why: "several filter chains match it, which differ only in prefix_ranges: a server looks at these only if it listens on all addresses"}
	}
	for _, port := range []uint32{uint32(conn.Source.Port()), 0} {
		if chain, ok := found[0].ports[port]; ok {
			return Chain{At: chain.at, Config: chain.config}
		}
	}
	return otherwise
}

// Manager returns the HTTP connection manager of the chain.
func (c Chain) Manager() (Manager, bool) {
	for _, m := range managersIn(filterChain{c.At, c.Config}) {
		return m, true
	}
	return Manager{}, false
}

// everywhere reports whether a server listens on all addresses. Only then it looks at the destinations of connections.
func everywhere(l *listenerv3.Listener) bool {
	address, err := netip.ParseAddr(l.GetAddress().GetSocketAddress().GetAddress())
	return err == nil && address.IsUnspecified()
}

func kindOf(conn Connection) listenerv3.FilterChainMatch_ConnectionSourceType {
	if from := conn.Source.Addr(); from == conn.Destination || from.IsLoopback() {
		return listenerv3.FilterChainMatch_SAME_IP_OR_LOOPBACK
	}
	return listenerv3.FilterChainMatch_EXTERNAL
}

// mostSpecific returns those with the longest prefix that contains an address. The zero prefix contains all, and is the shortest.
func mostSpecific[T any](all []T, prefixOf func(T) netip.Prefix, address netip.Addr) (best []T) {
	longest := -2
	for _, one := range all {
		prefix := prefixOf(one)
		bits := -1
		if prefix.IsValid() {
			if bits = prefix.Bits(); !prefix.Contains(address) {
				continue
			}
		}
		if bits > longest {
			longest, best = bits, nil
		}
		if bits == longest {
			best = append(best, one)
		}
	}
	return best
}

// candidate is the chains of an entry for sources in a range, by port.
type candidate struct {
	prefix netip.Prefix
	ports  map[uint32]filterChain
}

// candidates returns the sources of all entries that say most about the kind of a source (filterBySourceType).
func candidates(entries []*destination, kind listenerv3.FilterChainMatch_ConnectionSourceType) (all []candidate) {
	for _, wanted := range []listenerv3.FilterChainMatch_ConnectionSourceType{kind, listenerv3.FilterChainMatch_ANY} {
		for _, d := range entries {
			all = append(all, d.of(wanted)...)
		}
		if len(all) > 0 {
			return all
		}
	}
	return nil
}

// of returns the sources of an entry for a kind, in the order of their ranges.
func (d *destination) of(kind listenerv3.FilterChainMatch_ConnectionSourceType) (all []candidate) {
	byPrefix := map[netip.Prefix]map[uint32]filterChain{}
	for s, chain := range d.sources {
		if s.kind != kind {
			continue
		}
		if byPrefix[s.prefix] == nil {
			byPrefix[s.prefix] = map[uint32]filterChain{}
			all = append(all, candidate{s.prefix, byPrefix[s.prefix]})
		}
		byPrefix[s.prefix][s.port] = chain
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(a.prefix.Addr().Compare(b.prefix.Addr()), a.prefix.Bits()-b.prefix.Bits())
	})
	return all
}

// ChainsAmbiguous reports filter chains that differ only in their destinations, although the server listens on one address: grpc-go then does
// not look at destinations, and closes connections for which more than one chain is left (filterChainManager.lookup).
func (c Client) ChainsAmbiguous(at graph.At, l *listenerv3.Listener) (all []Fault) {
	if l.GetApiListener() != nil || everywhere(l) || !c.is(Go) {
		return nil
	}
	entries := c.keeping(at, l).entries
	reported := map[*listenerv3.FilterChain]bool{}
	for _, kind := range []listenerv3.FilterChainMatch_ConnectionSourceType{listenerv3.FilterChainMatch_SAME_IP_OR_LOOPBACK, listenerv3.FilterChainMatch_EXTERNAL} {
		seen := map[netip.Prefix]bool{}
		for _, s := range candidates(entries, kind) {
			for _, port := range slices.Sorted(maps.Keys(s.ports)) {
				chain := s.ports[port]
				if seen[s.prefix] && !reported[chain.config] {
					reported[chain.config] = true
					all = append(all, accepted(chain.at.Field("filter_chain_match"), Fails, "the filter chain differs from another one only in prefix_ranges, and the server listens on one address",
						"closes the connections that match both", "listen on all addresses (0.0.0.0 or ::), or match source addresses")...)
				}
			}
			seen[s.prefix] = true
		}
	}
	return all
}

// ServerAddress reports listeners whose address is not that of the server that gets them, which then does not serve (ldsWatcher.ResourceChanged,
// gRFC A36).
func (c Client) ServerAddress(at graph.At, l *listenerv3.Listener) []Fault {
	socket := l.GetAddress().GetSocketAddress()
	if l.GetApiListener() != nil || socket == nil || !c.is(Go) {
		return nil
	}
	where := at.Field("address", "socket_address")
	const then = "does not serve: it closes all connections"
	if address, err := netip.ParseAddr(socket.GetAddress()); err != nil || address.Unmap().String() != socket.GetAddress() {
		return accepted(where.Field("address"), Fails, fmt.Sprintf("%q is not an IP address as Go writes it, with which a server compares it", socket.GetAddress()), then, "write the address on which the server listens, such as 0.0.0.0")
	}
	listens, ok := c.Bootstrap.listensOn(l.GetName())
	if !ok {
		return nil
	}
	if port := socket.GetPortValue(); listens.Addr().String() == socket.GetAddress() && (port == 0 || port == uint32(listens.Port())) {
		return nil
	}
	return accepted(where, Fails, fmt.Sprintf("the listener is for the server on %s, as its name says, and has another address", listens), then, "write that address")
}
