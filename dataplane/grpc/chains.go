package grpc

import (
	"net/netip"
	"slices"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
)

// chains is what a server makes of the matches of its filter chains (buildFilterChainMap). A chain is added to an entry for each range of
// destinations, each kind of source, each range of sources and each port. Chains for raw_buffer replace those without a transport protocol.
type chains struct {
	client  Client
	entries []*destination
	faults  []Fault
	drops   []Fault
	seen    []filterChain // those that were validated
}

// destination is the entry of a range of destinations.
type destination struct {
	prefix  netip.Prefix
	raw     bool // one for raw_buffer was seen
	sources map[source]filterChain
}

// source is what selects a chain in an entry.
type source struct {
	kind   listenerv3.FilterChainMatch_ConnectionSourceType
	prefix netip.Prefix
	port   uint32
}

func newChains(c Client) *chains { return &chains{client: c} }

// valid returns the chains that were validated, unless none of them is left in the end.
func (c *chains) valid() []filterChain {
	if slices.ContainsFunc(c.entries, func(d *destination) bool { return len(d.sources) > 0 }) {
		return c.seen
	}
	return nil
}

func (c *chains) drop(chain filterChain, field, message string) {
	c.drops = append(c.drops, accepted(chain.at.Field("filter_chain_match", field), Fails, message, "drops the filter chain", "match addresses, source types or source ports, or remove the match")...)
}

func (c *chains) add(chain filterChain) {
	match := chain.config.GetFilterChainMatch()
	if match.GetDestinationPort().GetValue() != 0 {
		c.drop(chain, "destination_port", "gRPC does not match destination ports")
		return
	}
	to, faults := c.client.prefixes(chain.at.Field("filter_chain_match"), "prefix_ranges", match.GetPrefixRanges())
	c.faults = append(c.faults, faults...)
	for _, prefix := range to {
		if !c.into(chain, c.entry(prefix)) {
			return
		}
	}
}

func (c *chains) entry(prefix netip.Prefix) *destination {
	for _, d := range c.entries {
		if d.prefix == prefix {
			return d
		}
	}
	d := &destination{prefix: prefix, sources: map[source]filterChain{}}
	c.entries = append(c.entries, d)
	return d
}

// into adds a chain to an entry. It returns false if the chain is dropped or faulty: the other entries would report the same.
func (c *chains) into(chain filterChain, d *destination) bool {
	match := chain.config.GetFilterChainMatch()
	switch protocol := match.GetTransportProtocol(); {
	case len(match.GetServerNames()) > 0:
		c.drop(chain, "server_names", "gRPC does not match server names")
		return false
	case protocol != "" && protocol != "raw_buffer":
		c.drop(chain, "transport_protocol", "gRPC matches only the transport protocol raw_buffer")
		return false
	case protocol == "" && d.raw:
		return true // one for raw_buffer takes the connections
	case protocol != "" && !d.raw:
		d.raw = true
		clear(d.sources)
	}
	if len(match.GetApplicationProtocols()) > 0 {
		c.drop(chain, "application_protocols", "gRPC does not match application protocols")
		return false
	}
	if match.GetSourceType() > listenerv3.FilterChainMatch_EXTERNAL {
		c.faults = append(c.faults, rejected(chain.at.Field("filter_chain_match", "source_type"), "gRPC does not know this source type", "unsupported source type", "write ANY, SAME_IP_OR_LOOPBACK or EXTERNAL")...)
		return false
	}
	from, faults := c.client.prefixes(chain.at.Field("filter_chain_match"), "source_prefix_ranges", match.GetSourcePrefixRanges())
	c.faults = append(c.faults, faults...)
	ports := match.GetSourcePorts()
	if len(ports) == 0 {
		ports = []uint32{0}
	}
	for _, prefix := range from {
		for _, port := range ports {
			key := source{match.GetSourceType(), prefix, port}
			if _, taken := d.sources[key]; taken {
				c.faults = append(c.faults, rejected(chain.at, "another filter chain before this one matches the same connections", "multiple filter chains with overlapping matching rules are defined", "give it another match, or remove one of the two")...)
				return false
			}
			d.sources[key] = chain
		}
	}
	if len(faults) == 0 && !slices.ContainsFunc(c.seen, func(other filterChain) bool { return other.config == chain.config }) {
		c.seen = append(c.seen, chain)
	}
	return len(faults) == 0
}
