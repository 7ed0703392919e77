package prove

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/diff"
	"github.com/xdslint/xdslint/internal/walk"
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
	olds, news := chainsOf(a), chainsOf(b)
	if twins := twinsOf(olds, news); len(twins) > 0 {
		for i, c := range olds {
			p.chainPair(a, b, c, twins[i], p.wayTo(a, b, c))
		}
		return
	}
	x, y := match.NewChains(a.message), match.NewChains(b.message)
	if x != nil && y != nil {
		if all, ok := x.Partition(y); ok {
			p.parts(a, b, x, y, all)
			return
		}
	}
	p.undecided(fmt.Sprintf("listener %s: which connections filter chains take", nameOf(b)))
	for _, c := range slices.Concat(olds, news) {
		p.search(p.wayTo(a, b, c))
	}
}

// twinsOf returns, for each chain of one listener, the chain of the other one with the same match. It returns nil if a chain of either does not have one.
func twinsOf(olds, news []chain) (twins []chain) {
	of := map[string]chain{}
	for _, d := range news {
		of[d.match] = d
	}
	for _, c := range olds {
		if d, ok := of[c.match]; ok {
			twins = append(twins, d)
			delete(of, c.match)
		}
	}
	if len(twins) != len(olds) || len(olds) != len(news) {
		return nil
	}
	return twins
}

// parts compares each pair of filter chains that take the same connection.
func (p *prover) parts(a, b listener, x, y *match.Chains, all []match.Connection) {
	chainOf := map[*listenerv3.FilterChain]chain{}
	for _, c := range slices.Concat(chainsOf(a), chainsOf(b)) {
		chainOf[c.message] = c
	}
	type pair struct{ old, now *listenerv3.FilterChain }
	seen := map[pair]bool{{nil, nil}: true}
	for _, conn := range all {
		both := pair{x.Take(conn), y.Take(conn)}
		if seen[both] || p.full() {
			continue
		}
		seen[both] = true
		c, d := chainOf[both.old], chainOf[both.now]
		switch w := p.wayOn(a, b, chainOf[cmp.Or(both.old, both.now)], conn, x, y); {
		case both.old != nil && both.now != nil:
			p.chainPair(a, b, c, d, w)
		case !p.search(w):
			p.undecided(fmt.Sprintf("listener %s: the connections that the filter chain %q takes", nameOf(b), cmp.Or(both.old, both.now).GetName()))
		}
	}
}

// wayOn returns how requests come over a connection to a chain.
func (p *prover) wayOn(a, b listener, c chain, conn match.Connection, x, y *match.Chains) way {
	w := p.wayTo(a, b, c)
	w.base.TLS = w.base.TLS || conn.Transport == "tls"
	w.base.SNI, w.base.ALPN, w.base.HTTP, w.base.Source, w.base.Destination = "", nil, "", "", ""
	if w.base.TLS {
		w.base.SNI, w.base.ALPN = conn.ServerName, conn.Protocols
	}
	if slices.Index(w.base.ALPN, "h2") == 0 {
		w.base.HTTP = "2"
	}
	if x.BySource() || y.BySource() {
		w.base.Source = conn.Source.String()
	}
	if x.ByDestination() || y.ByDestination() || x.ByPort() || y.ByPort() {
		w.base.Destination = conn.Destination.String()
	}
	return w
}

// chainPair compares two filter chains that take the same connections.
func (p *prover) chainPair(a, b listener, c, d chain, w way) {
	what := "listener " + nameOf(b)
	if name := d.message.GetName(); name != "" {
		what += ", filter chain " + name
	}
	reasons := diff.Fields(a.Resource, b.Resource, c.message, d.message, chainNames...)
	if c.message.GetName() != d.message.GetName() && p.sees(chainName) {
		reasons = append(reasons, "name")
	}
	before, after := p.old.managerOf(a, c), p.now.managerOf(b, d)
	if before == nil || after == nil {
		reasons = append(reasons, diff.Fields(a.Resource, b.Resource, c.message, d.message, chainNames[:2]...)...)
	} else {
		reasons = append(reasons, p.managers(c, d, before, after)...)
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

// wayTo returns how a connection gets to a filter chain of one of two listeners.
func (p *prover) wayTo(a, b listener, c chain) way {
	w := way{base: *walk.Toward(c.message), address: a.address()}
	w.base.Listener = p.listenerOf(a, b)
	content, _ := envoy.Content(c.at.Field("transport_socket", "typed_config"), c.message.GetTransportSocket().GetTypedConfig())
	if context, ok := content.(*tlsv3.DownstreamTlsContext); ok {
		w.base.ClientCert.Presented = context.GetRequireClientCertificate().GetValue()
	}
	if slices.ContainsFunc(envoy.ListenerFiltersOf(a.At(), a.message), func(f envoy.ListenerFilter) bool { return f.Kind == envoy.ProxyProtocol }) {
		w.base.ProxyProtocol = &walk.Proxied{Source: "10.1.2.3:4567", Destination: "10.9.9.9:80"}
	}
	return w
}
