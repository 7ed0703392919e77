package match

import (
	"iter"
	"maps"
	"net/netip"
	"slices"
	"strings"
)

// maxConnections limits the connections of a partition.
const maxConnections = 100_000

// Partition returns connections between two listeners' chains: for each pair of chains that take one connection, there is one. A pair for which there is a
// connection may still need listener filters that the listeners do not have. It is not ok if there are too many to try, or if the chains are not certain.
func (cs *Chains) Partition(o *Chains) (all []Connection, ok bool) {
	p := &partition{values: map[level]map[value]bool{}}
	for _, side := range []*Chains{cs, o} {
		if len(side.Chances()) > 0 {
			return nil, false
		}
		for _, c := range side.chains {
			if c.vague {
				return nil, false
			}
			for l, values := range c.values {
				p.add(level(l), values)
			}
		}
	}
	to, from, direct := p.destinations(), p.sources(), p.addresses(directSource)
	total := 1
	for _, n := range []int{len(p.ports(destinationPort)), len(to), len(p.names()), len(p.transports()), len(p.protocols()), len(direct), len(from), len(p.ports(sourcePort))} {
		if total *= n; total > maxConnections {
			return nil, false
		}
	}
	for c := range p.product(to, direct, from) {
		all = append(all, c)
	}
	return all, true
}

// partition has the values that chains look at.
type partition struct {
	values map[level]map[value]bool
}

func (p *partition) add(l level, values []value) {
	if p.values[l] == nil {
		p.values[l] = map[value]bool{}
	}
	for _, v := range values {
		p.values[l][v] = true
	}
	delete(p.values[l], value{})
}

// texts returns the values of a level in their order.
func (p *partition) texts(l level) (all []string) {
	for v := range p.values[l] {
		all = append(all, v.text)
	}
	slices.Sort(all)
	return all
}

func (p *partition) product(to, direct, from []netip.Addr) iter.Seq[Connection] {
	return func(yield func(Connection) bool) {
		var c Connection
		for _, destinationPort := range p.ports(destinationPort) {
			for _, address := range to {
				c.Destination = netip.AddrPortFrom(address, destinationPort)
				for _, c.ServerName = range p.names() {
					for _, c.Transport = range p.transports() {
						for _, c.Protocols = range p.protocols() {
							for _, c.Direct = range direct {
								for _, source := range from {
									for _, port := range p.ports(sourcePort) {
										c.Source = netip.AddrPortFrom(source, port)
										if !yield(c) {
											return
										}
									}
								}
							}
						}
					}
				}
			}
		}
	}
}

// ports returns the ports that are listed, and one that is not.
func (p *partition) ports(l level) (all []uint16) {
	other := uint16(1)
	for n := range uint16(len(p.values[l]) + 1) {
		if !p.values[l][number(uint32(n+1))] {
			other = n + 1
		}
	}
	for _, text := range p.texts(l) {
		all = append(all, portOf(text))
	}
	return append(all, other)
}

func portOf(text string) (n uint16) {
	for _, c := range text {
		n = n*10 + uint16(c-'0')
	}
	return n
}

// names returns server names: none, those that are listed, one below each wildcard, and one that is not listed.
func (p *partition) names() []string {
	all := []string{"", "other.invalid"}
	for _, name := range p.texts(serverName) {
		if strings.HasPrefix(name, ".") {
			label := "x"
			for p.values[serverName][value{text: label + name}] {
				label += "x"
			}
			name = label + name
		}
		all = append(all, name)
	}
	return all
}

func (p *partition) transports() []string {
	all := append(p.texts(transport), "tls", "raw_buffer")
	slices.Sort(all)
	return slices.Compact(all)
}

// protocols returns what clients can offer: the first protocol that a place of a tree has decides, so that two are enough for two trees.
func (p *partition) protocols() [][]string {
	all := [][]string{nil}
	for _, one := range p.texts(protocol) {
		all = append(all, []string{one})
		for _, other := range p.texts(protocol) {
			if other != one {
				all = append(all, []string{one, other})
			}
		}
	}
	return all
}

// addresses returns the first address of each interval in which all addresses are in the same ranges of some levels.
func (p *partition) addresses(of ...level) []netip.Addr {
	starts := map[netip.Addr]bool{netip.IPv4Unspecified(): true}
	for _, l := range of {
		for v := range p.values[l] {
			if v.network.IsValid() {
				starts[netip.IPv6Unspecified()] = true
				starts[v.network.Addr()] = true
				starts[last(v.network).Next()] = true
			}
		}
	}
	delete(starts, netip.Addr{}) // after the last address
	return slices.SortedFunc(maps.Keys(starts), netip.Addr.Compare)
}

// last returns the last address of a network.
func last(network netip.Prefix) netip.Addr {
	bytes := network.Masked().Addr().AsSlice()
	for i := network.Bits(); i < 8*len(bytes); i++ {
		bytes[i/8] |= 0x80 >> (i % 8)
	}
	address, _ := netip.AddrFromSlice(bytes)
	return address
}

// destinations returns an address of each interval in which chains treat all destinations alike.
func (p *partition) destinations() []netip.Addr {
	if len(p.values[sourceType]) == 0 {
		return p.addresses(destination)
	}
	return p.addresses(destination, sourceAddress) // a source that is the destination is local
}

// sources returns addresses of each interval in which chains treat all sources alike: a local one and another one, if they treat these in different ways.
func (p *partition) sources() []netip.Addr {
	all := p.addresses(sourceAddress)
	if len(p.values[sourceType]) == 0 {
		return all
	}
	for _, start := range p.addresses(destination, sourceAddress) {
		all = append(all, start, start.Next())
	}
	for _, loopback := range []string{"127.0.0.1", "127.0.0.2", "::1", "::2"} {
		all = append(all, netip.MustParseAddr(loopback))
	}
	slices.SortFunc(all, netip.Addr.Compare)
	return slices.DeleteFunc(slices.Compact(all), func(a netip.Addr) bool { return !a.IsValid() })
}
