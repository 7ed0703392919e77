package diff

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/graph"
)

type listener struct {
	resource *graph.Resource
	message  *listenerv3.Listener
	address  string // empty if the listener does not have a socket
	chains   []*chain
	matcher  bool // a matcher chooses the chain, by its name
}

// name is never empty, although a listener need not have a name.
func (l *listener) name() string {
	if l.resource.Name == "" {
		return "unnamed"
	}
	return l.resource.Name
}

// chain is one filter chain of a listener.
type chain struct {
	message *listenerv3.FilterChain
	takes   string // the connections that it accepts; empty: all
	exact   string
}

func (c *chain) serverNames() []string { return c.message.GetFilterChainMatch().GetServerNames() }

// least returns the first name in alphabetical order. It often identifies a chain whose other names are added or removed.
func least(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return slices.Min(names)
}

func greatest(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return slices.Max(names)
}

func listenersOf(s *graph.Snapshot) []*listener {
	var all []*listener
	for _, r := range firsts(s, graph.Listener) {
		m, ok := r.Message.(*listenerv3.Listener)
		if !ok {
			continue
		}
		l := &listener{resource: r, message: m, address: listenerAddress(m), matcher: m.GetFilterChainMatcher() != nil}
		for _, c := range m.GetFilterChains() {
			takes := l.takes(c)
			l.chains = append(l.chains, &chain{c, takes, takes + " " + held{r, sorted(c.GetFilterChainMatch())}.digest()})
		}
		if c := m.GetDefaultFilterChain(); c != nil {
			takes := "all other connections"
			if len(l.chains) == 0 {
				takes = ""
			}
			l.chains = append(l.chains, &chain{c, takes, "default"})
		}
		all = append(all, l)
	}
	return all
}

func listenerAddress(m *listenerv3.Listener) string {
	if m.GetInternalListener() != nil {
		return ""
	}
	var all []string
	for _, a := range slices.Concat([]*corev3.Address{m.GetAddress()}, additional(m)) {
		if text := address(a); text != "" {
			all = append(all, text)
		}
	}
	return strings.Join(all, ", ")
}

func additional(m *listenerv3.Listener) []*corev3.Address {
	var all []*corev3.Address
	for _, a := range m.GetAdditionalAddresses() {
		all = append(all, a.GetAddress())
	}
	return all
}

func address(a *corev3.Address) string {
	switch {
	case a.GetSocketAddress() != nil:
		s := a.GetSocketAddress()
		port := s.GetNamedPort()
		if port == "" {
			port = strconv.FormatUint(uint64(s.GetPortValue()), 10)
		}
		text := net.JoinHostPort(s.GetAddress(), port)
		if s.GetProtocol() == corev3.SocketAddress_UDP {
			text += "/udp"
		}
		return text
	case a.GetPipe() != nil:
		return "unix:" + a.GetPipe().GetPath()
	case a.GetEnvoyInternalAddress() != nil:
		i := a.GetEnvoyInternalAddress()
		text := "internal:" + i.GetServerListenerName()
		if i.GetEndpointId() != "" {
			text += "/" + i.GetEndpointId()
		}
		return text
	}
	return ""
}

// addressFields are the fields that address shows.
var addressFields = fields{
	"envoy.config.core.v3.SocketAddress.address": true, "envoy.config.core.v3.SocketAddress.port_value": true,
	"envoy.config.core.v3.SocketAddress.named_port": true, "envoy.config.core.v3.SocketAddress.protocol": true,
	"envoy.config.core.v3.Pipe.path": true, "envoy.config.core.v3.EnvoyInternalAddress.server_listener_name": true,
	"envoy.config.core.v3.EnvoyInternalAddress.endpoint_id": true,
}

// takes describes the connections that a chain accepts.
func (l *listener) takes(c *listenerv3.FilterChain) string {
	if l.matcher {
		return "chain " + c.GetName()
	}
	m := c.GetFilterChainMatch()
	var all []string
	say := func(what string, values ...string) {
		if len(values) > 0 {
			all = append(all, what+" "+list(values))
		}
	}
	say("SNI", sortedTexts(m.GetServerNames())...)
	say("ALPN", sortedTexts(m.GetApplicationProtocols())...)
	if p := m.GetTransportProtocol(); p != "" && (p != "tls" || len(m.GetServerNames()) == 0) {
		say("protocol", p)
	}
	if p := m.GetDestinationPort(); p != nil {
		say("port", strconv.FormatUint(uint64(p.GetValue()), 10))
	}
	say("to", ranges(m.GetPrefixRanges())...)
	say("from", ranges(m.GetSourcePrefixRanges())...)
	say("directly from", ranges(m.GetDirectSourcePrefixRanges())...)
	if t := m.GetSourceType(); t != listenerv3.FilterChainMatch_ANY {
		say("from", map[bool]string{true: "the same host", false: "elsewhere"}[t == listenerv3.FilterChainMatch_SAME_IP_OR_LOOPBACK])
	}
	var ports []string
	for _, p := range m.GetSourcePorts() {
		ports = append(ports, strconv.FormatUint(uint64(p), 10))
	}
	say("from port", sortedTexts(ports)...)
	return strings.Join(all, ", ")
}

func ranges(all []*corev3.CidrRange) []string {
	var texts []string
	for _, r := range all {
		texts = append(texts, fmt.Sprintf("%s/%d", r.GetAddressPrefix(), r.GetPrefixLen().GetValue()))
	}
	return sortedTexts(texts)
}

// sorted returns a match with sorted lists, since their order does not matter.
func sorted(m *listenerv3.FilterChainMatch) *listenerv3.FilterChainMatch {
	if m == nil {
		return nil
	}
	m = proto.CloneOf(m)
	slices.Sort(m.ServerNames)
	slices.Sort(m.ApplicationProtocols)
	slices.Sort(m.SourcePorts)
	for _, list := range [][]*corev3.CidrRange{m.PrefixRanges, m.SourcePrefixRanges, m.DirectSourcePrefixRanges} {
		slices.SortFunc(list, func(a, b *corev3.CidrRange) int { return strings.Compare(cidr(a), cidr(b)) })
	}
	return m
}

func cidr(r *corev3.CidrRange) string {
	return fmt.Sprintf("%s/%d", r.GetAddressPrefix(), r.GetPrefixLen().GetValue())
}

func (s *side) readListener(l *listener, names places) {
	s.note(l.resource)
	w := names.listeners[l]
	s.booted[w] = l.resource.Delivery == graph.FromBootstrap
	shown := l.address
	if shown == "" {
		shown = "no address"
	}
	s.add(&fact{where: w, what: "address", value: shown, exists: true})
	h := held{l.resource, l.message}
	s.add(&fact{where: w, what: "", message: h, part: true, skip: fields{
		"envoy.config.listener.v3.Listener.name": true, "envoy.config.listener.v3.Listener.address": true,
		"envoy.config.listener.v3.AdditionalAddress.address": true, "envoy.config.listener.v3.Listener.filter_chains": true,
		"envoy.config.listener.v3.Listener.default_filter_chain": true, "envoy.config.listener.v3.Listener.listener_filters": true,
		"envoy.config.listener.v3.Listener.api_listener": true,
	}})
	for _, a := range slices.Concat([]*corev3.Address{l.message.GetAddress()}, additional(l.message)) {
		s.add(&fact{where: w, what: "address settings", message: h.with(a), part: true, skip: addressFields})
	}
	s.listenerFilters(w, h, l.message.GetListenerFilters())
	for _, c := range l.chains {
		at := w
		at.Chain = names.chains[c]
		s.readChain(at, h, c)
	}
	if api := l.message.GetApiListener().GetApiListener(); api != nil {
		s.networkFilter(w, filter{name: "api_listener", config: h.open(api), any: h.with(api)})
	}
}

func (s *side) listenerFilters(w Where, h held, all []*listenerv3.ListenerFilter) {
	var list []filter
	for _, f := range all {
		one := s.filter(h, f.GetName(), f.GetTypedConfig(), f.GetConfigDiscovery())
		one.disabled = h.with(f.GetFilterDisabled()).digest()
		list = append(list, one)
	}
	s.filters(w, "listener filter", list)
}

func (s *side) readChain(w Where, h held, c *chain) {
	shown := c.takes
	if shown == "" {
		shown = "all"
	}
	s.add(&fact{where: w, what: "connections", value: shown, exact: c.exact, exists: w.Chain != ""})
	s.add(&fact{where: w, what: "filter chain", message: h.with(c.message), part: true, skip: fields{
		"envoy.config.listener.v3.FilterChain.name": true, "envoy.config.listener.v3.FilterChain.filter_chain_match": true,
		"envoy.config.listener.v3.FilterChain.transport_socket": true, "envoy.config.listener.v3.FilterChain.filters": true,
	}})
	s.downstreamTLS(w, h, c.message.GetTransportSocket())
	var list []filter
	for _, f := range c.message.GetFilters() {
		list = append(list, s.filter(h, f.GetName(), f.GetTypedConfig(), f.GetConfigDiscovery()))
	}
	s.filters(w, "network filter", list)
}
