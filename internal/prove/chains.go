package prove

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/diff"
)

// chain is a filter chain of a listener.
type chain struct {
	message *listenerv3.FilterChain
	at      graph.At
	match   string // the connections that it takes
}

func chainsOf(l listener) (all []chain) {
	for i, c := range l.message.GetFilterChains() {
		m := proto.CloneOf(c.GetFilterChainMatch())
		if m != nil {
			slices.Sort(m.ServerNames)
			slices.Sort(m.ApplicationProtocols)
		}
		match := canonical(l.Resource, m)
		if l.message.GetFilterChainMatcher() != nil {
			match += "\x00" + c.GetName()
		}
		all = append(all, chain{c, l.At().Item("filter_chains", i), match})
	}
	if c := l.message.GetDefaultFilterChain(); c != nil {
		all = append(all, chain{c, l.At().Field("default_filter_chain"), "default"})
	}
	return all
}

// chains compares the filter chains of two listeners that take the same connections.
func (p *prover) chains(a, b listener) {
	left := map[string]chain{}
	for _, c := range chainsOf(b) {
		left[c.match] = c
	}
	for _, c := range chainsOf(a) {
		twin, ok := left[c.match]
		if !ok {
			p.connections(a, b, c)
			continue
		}
		delete(left, c.match)
		p.chainPair(a, b, c, twin)
	}
	for _, c := range chainsOf(b) {
		if _, ok := left[c.match]; ok {
			p.connections(a, b, c)
		}
	}
}

// connections shows that a filter chain of one side takes connections that no chain of the other side is made for.
func (p *prover) connections(a, b listener, c chain) {
	if !p.search(p.wayTo(a, b, c)) {
		p.undecided(fmt.Sprintf("listener %s: the connections that the filter chain %q takes", nameOf(b), c.message.GetName()))
	}
}

// chainPair compares two filter chains that take the same connections.
func (p *prover) chainPair(a, b listener, c, d chain) {
	what := "listener " + nameOf(b)
	if name := d.message.GetName(); name != "" {
		what += ", filter chain " + name
	}
	w := p.wayTo(a, b, c)
	reasons := diff.Fields(a.Resource, b.Resource, c.message, d.message, chainNames...)
	before, after := p.old.managerOf(a, c), p.now.managerOf(b, d)
	if before == nil || after == nil {
		reasons = append(reasons, diff.Fields(a.Resource, b.Resource, c.message, d.message, chainNames[:1]...)...)
	} else {
		reasons = append(reasons, p.managers(c, d, before, after)...)
		if c.message.GetName() != d.message.GetName() && p.sees("FILTER_CHAIN_NAME", before, after) {
			reasons = append(reasons, "name")
		}
		known := len(p.result.Differences)
		p.routes(what, w, before, after)
		if len(p.result.Differences) > known && len(reasons) == 0 {
			return
		}
	}
	if slices.Sort(reasons); len(reasons) > 0 {
		p.search(w)
		p.differing(what, slices.Compact(reasons))
	}
}

// chainNames are the fields of a filter chain that are compared elsewhere, or that requests do not notice.
var chainNames = []string{
	"envoy.config.listener.v3.FilterChain.name", "envoy.config.listener.v3.FilterChain.filter_chain_match", "envoy.config.listener.v3.FilterChain.filters",
}

// managerNames are the fields of a connection manager that are compared elsewhere, or that requests do not notice.
var managerNames = []string{
	hcm + "route_config", hcm + "rds", hcm + "stat_prefix", hcm + "access_log", hcm + "access_log_options", hcm + "scoped_routes",
}

const hcm = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager."

// manager is the HTTP connection manager at the end of a filter chain.
type manager struct {
	message *hcmv3.HttpConnectionManager
	at      graph.At
	routes  envoy.Routes
	port    string // of the listener, with a colon
}

func (s *side) managerOf(l listener, c chain) *manager {
	message, at, routes := s.walker.Manager(c.at, c.message)
	if message == nil {
		return nil
	}
	return &manager{message, at, routes, fmt.Sprint(":", l.port())}
}

// hostOf returns the host of a request as the route table gets it.
func (m *manager) hostOf(sent string) string {
	port, _ := strconv.ParseUint(m.port[1:], 10, 32)
	return match.Host(sent, m.message, uint32(port))
}

// managers returns what differs in two connection managers and in the network filters before them.
func (p *prover) managers(c, d chain, before, after *manager) []string {
	reasons := diff.Fields(before.at.Resource(), after.at.Resource(), before.message, after.message, managerNames...)
	x, y := c.message.GetFilters(), d.message.GetFilters()
	if len(x) != len(y) {
		return append(reasons, "network filters")
	}
	for i := range x[:len(x)-1] {
		for _, field := range diff.Fields(c.at.Resource(), d.at.Resource(), x[i], y[i]) {
			reasons = append(reasons, fmt.Sprintf("filters[%d].%s", i, field))
		}
	}
	return reasons
}

// sees reports whether something in connection managers or their routes can see a name, such as a format string with its command.
func (p *prover) sees(command string, all ...*manager) bool {
	for _, m := range all {
		for _, f := range envoy.HTTPFiltersOf(m.at, "http_filters", m.message.GetHttpFilters()) {
			if !p.old.walker.Models(f) {
				return true
			}
		}
		texts := []string{encoded(shallow(m.at.Resource(), m.message, "access_log"))}
		for _, t := range m.routes.Tables {
			texts = append(texts, canonical(t.Levels[0].At.Resource(), t.Levels[0].Table))
		}
		for _, text := range texts {
			if strings.Contains(text, command) || strings.Contains(text, "xds.") {
				return true
			}
		}
	}
	return false
}

// wayTo returns how a connection gets to a filter chain of one of two listeners.
func (p *prover) wayTo(a, b listener, c chain) way {
	m := c.message.GetFilterChainMatch()
	w := way{listener: p.listenerOf(a, b), address: a.address()}
	socket := c.message.GetTransportSocket()
	content, _ := envoy.Content(c.at.Field("transport_socket", "typed_config"), socket.GetTypedConfig())
	if context, ok := content.(*tlsv3.DownstreamTlsContext); ok {
		w.tls = true
		w.certificate = context.GetRequireClientCertificate().GetValue()
	}
	if names := m.GetServerNames(); len(names) > 0 {
		w.tls, w.sni = true, strings.Replace(names[0], "*", "x", 1)
	}
	if protocols := m.GetApplicationProtocols(); len(protocols) > 0 && w.tls {
		w.alpn = protocols[:1]
	}
	w.proxied = slices.ContainsFunc(envoy.ListenerFiltersOf(a.At(), a.message), func(f envoy.ListenerFilter) bool { return f.Kind == envoy.ProxyProtocol })
	if ranges := m.GetSourcePrefixRanges(); len(ranges) > 0 {
		w.source = ranges[0].GetAddressPrefix()
	}
	return w
}
