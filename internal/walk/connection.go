package walk

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	proxyprotocolv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/listener/proxy_protocol/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/ascii"
)

// connection is what Envoy knows about the connection of a request.
type connection struct {
	match.Connection
	peer      netip.Addr // after the listener filters, before x-forwarded-for
	tls       bool
	proxied   bool // the PROXY protocol says the addresses
	trusted   bool // an extension says so of the source
	anywhere  bool // the source is not known, and decides whether the client is internal
	presented bool // the client presents a certificate
	validated bool
	name      string // in the certificate
}

// known reports whether the source of the connection is known.
func (c *connection) known() bool { return c.Source.IsValid() }

// connect chooses the filter chain and its HTTP connection manager.
func (j *journey) connect() bool {
	if !j.inspect() || !j.handOver() {
		return false
	}
	j.conn.peer = j.conn.Source.Addr()
	chain := j.chain()
	if chain == nil {
		return false
	}
	return j.handshake(chain) && j.manages(chain)
}

// lost notes that nothing is known after a doubt.
func (j *journey) lost() bool {
	for _, field := range slices.Sorted(maps.Keys(j.answer.Unknown))[:1] {
		j.answer.doubt(unknownStatus, j.answer.Unknown[field])
		j.answer.doubt(unknownCluster, j.answer.Unknown[field])
	}
	return false
}

// closes notes that Envoy closes the connection before HTTP begins.
func (j *journey) closes(why string) bool {
	j.answer.closed("", "-")
	j.answer.Closed = why
	return false
}

// accept reads the addresses of the connection. It fails if they are not addresses.
func (j *journey) accept() error {
	source, err := address(j.request.Source)
	if err != nil {
		return err
	}
	destination, err := address(j.request.Destination)
	if err != nil {
		return err
	}
	if j.request.Destination == "" {
		destination = addressed(j.listener)
	}
	j.conn.Connection = match.Connection{Source: source, Direct: source.Addr(), Destination: destination, Transport: "raw_buffer"}
	return nil
}

// inspect lets the listener filters look at the connection.
func (j *journey) inspect() bool {
	filters := envoy.ListenerFiltersOf(j.at, j.listener)
	if !filters.Lack() {
		j.answer.doubt(unknownChain, "a listener filter that is not one of Envoy's can change the connection")
		return j.lost()
	}
	for _, f := range filters {
		switch f.Kind {
		case envoy.ProxyProtocol:
			config, _ := f.Config.(*proxyprotocolv3.ProxyProtocol)
			if !j.proxied(config) {
				return false
			}
		case envoy.OriginalDst:
			if j.request.Destination == "" && !j.conn.proxied {
				j.conn.Destination = netip.AddrPort{} // that of the redirected connection
			}
		case envoy.TLSInspector:
			if j.request.TLS {
				j.conn.Transport, j.conn.ServerName, j.conn.Protocols = "tls", ascii.Lower(j.request.SNI), j.request.ALPN
			}
		case envoy.HTTPInspector:
			if !j.request.TLS && j.looksLikeHTTP() {
				j.conn.Protocols = []string{map[string]string{"1.0": "http/1.0", "2": "h2c"}[j.request.HTTP]}
				if j.conn.Protocols[0] == "" {
					j.conn.Protocols[0] = "http/1.1"
				}
			}
		}
	}
	return true
}

// looksLikeHTTP reports whether the first line is one that the inspector takes for HTTP.
func (j *journey) looksLikeHTTP() bool {
	r := j.request
	return r.HTTP == "2" || methods[r.Method] && (r.Path == nil || validURL(*r.Path))
}

// proxied takes the addresses of the PROXY protocol.
func (j *journey) proxied(config *proxyprotocolv3.ProxyProtocol) bool {
	said := j.request.ProxyProtocol
	if said == nil {
		if config.GetAllowRequestsWithoutProxyProtocol() {
			return true
		}
		return j.closes("the listener expects the PROXY protocol, which the connection does not begin with")
	}
	source, err := address(said.Source)
	destination, other := address(said.Destination)
	if err != nil || other != nil {
		return j.closes("the PROXY protocol has an address that is not one")
	}
	j.conn.proxied = true
	if source.IsValid() {
		j.conn.Source = source
	}
	if destination.IsValid() {
		j.conn.Destination = destination
	}
	return true
}

// chain chooses the filter chain, or notes why there is none.
func (j *journey) chain() *listenerv3.FilterChain {
	chains, ok := j.chains[j.listener]
	if !ok {
		chains = match.NewChains(j.listener)
		j.chains[j.listener] = chains
	}
	switch {
	case chains == nil:
		j.answer.doubt(unknownChain, "a filter_chain_matcher chooses the filter chain")
		j.lost()
		return nil
	case chains.BySource() && !j.conn.known():
		j.answer.doubt(unknownChain, "the filter chain depends on the source of the connection")
		j.lost()
		return nil
	case chains.ByDestination() && !j.conn.Destination.Addr().IsValid(), chains.ByPort() && j.conn.Destination == netip.AddrPort{}:
		j.answer.doubt(unknownChain, "the filter chain depends on the address to which the client connects")
		j.lost()
		return nil
	}
	taken := chains.Take(j.conn.Connection)
	if !j.Brief {
		j.passChains(chains, taken)
	}
	if taken == nil {
		j.answer.closed("filter_chain_not_found", "NR")
		return nil
	}
	j.reach(taken, "")
	j.answer.At.Chain = j.atChain(taken)
	j.answer.Chain = taken.GetName()
	if taken.GetName() == "" {
		j.answer.Chain = chainName(taken, slices.Index(j.listener.GetFilterChains(), taken))
	}
	return taken
}

// passChains notes the filter chains that do not take the connection.
func (j *journey) passChains(chains *match.Chains, taken *listenerv3.FilterChain) {
	for i, c := range j.listener.GetFilterChains() {
		if c == taken {
			continue
		}
		why := "another chain is more specific"
		if miss := chains.Miss(j.conn.Connection, c); miss != "" {
			why = "the " + miss + " does not fit"
		}
		j.answer.Passed = append(j.answer.Passed, Passed{Kind: "filter chain", Name: chainName(c, i), Why: why, At: j.at.Item("filter_chains", i)})
	}
}

func chainName(c *listenerv3.FilterChain, i int) string {
	switch {
	case c.GetName() != "":
		return c.GetName()
	case i < 0:
		return "default_filter_chain"
	}
	return fmt.Sprintf("filter_chains[%d]", i)
}

// atChain points to the chosen filter chain.
func (j *journey) atChain(c *listenerv3.FilterChain) graph.At {
	if i := slices.Index(j.listener.GetFilterChains(), c); i >= 0 {
		return j.at.Item("filter_chains", i)
	}
	return j.at.Field("default_filter_chain")
}

// handshake compares what the client speaks with what the chain speaks.
func (j *journey) handshake(c *listenerv3.FilterChain) bool {
	socket := c.GetTransportSocket()
	content, at := envoy.Content(j.atChain(c).Field("transport_socket", "typed_config"), socket.GetTypedConfig())
	context, isTLS := content.(*tlsv3.DownstreamTlsContext)
	if socket != nil && !isTLS && socket.GetName() != "envoy.transport_sockets.raw_buffer" {
		j.answer.doubt(unknownStatus, "the transport socket "+socket.GetName()+" is not modelled")
		return j.lost()
	}
	switch {
	case isTLS && !j.request.TLS:
		return j.closes("the filter chain expects TLS, and the request is sent without it: does the client ask for a server name (sni)?")
	case !isTLS && j.request.TLS:
		return j.closes("the filter chain does not have TLS, and the client begins a TLS handshake")
	case !isTLS:
		return true
	}
	asks := envoy.VerifiesPeer(context.GetCommonTlsContext()) // and otherwise accepts any certificate, and none
	required := asks && context.GetRequireClientCertificate().GetValue()
	j.conn.tls, j.conn.presented = true, asks && j.request.ClientCert.Presented
	if j.guarded != nil {
		j.guardTLS(at, context)
		j.conn.presented = j.conn.presented || required
	}
	if j.conn.presented {
		j.conn.name = j.request.ClientCert.Name
	}
	j.conn.validated = j.conn.presented
	if required && !j.conn.presented {
		return j.closes("the filter chain requires a certificate of the client")
	}
	return true
}

// manages finds the HTTP connection manager of the chain.
func (j *journey) manages(c *listenerv3.FilterChain) bool {
	m, ok := j.managers[c]
	if !ok {
		m = j.managerOf(j.atChain(c), c)
		j.managers[c] = m
	}
	if m == nil {
		j.answer.doubt(unknownStatus, "the filter chain does not have an HTTP connection manager")
		return j.lost()
	}
	j.manager = m
	for _, f := range c.GetFilters()[:len(c.GetFilters())-1] {
		j.answer.doubt(unknownStatus, "the network filter "+f.GetName()+" can close the connection")
	}
	return true
}

// Manager returns the HTTP connection manager at the end of a filter chain, its place, and the route tables that it uses, or nil if the chain does not
// have one.
func (w *Walker) Manager(at graph.At, c *listenerv3.FilterChain) (*hcmv3.HttpConnectionManager, graph.At, envoy.Routes) {
	m := w.managerOf(at, c)
	if m == nil {
		return nil, at, envoy.Routes{}
	}
	return m.message, m.at, m.routes
}

func (w *Walker) managerOf(chain graph.At, c *listenerv3.FilterChain) *manager {
	last := len(c.GetFilters()) - 1
	if last < 0 {
		return nil
	}
	content, at := envoy.Content(chain.Item("filters", last).Field("typed_config"), c.GetFilters()[last].GetTypedConfig())
	message, ok := content.(*hcmv3.HttpConnectionManager)
	if !ok {
		return nil
	}
	m := &manager{message: message, at: at, filters: envoy.HTTPFiltersOf(at, "http_filters", message.GetHttpFilters())}
	m.edges = w.edgesOf(at.Resource())[message]
	m.routes = w.levels.Of(at, message, m.edges)
	return m
}

// edgesOf returns the references of a listener by the connection manager around them.
func (w *Walker) edgesOf(r *graph.Resource) map[*hcmv3.HttpConnectionManager][]*graph.Edge {
	if w.edges[r] == nil {
		w.edges[r] = map[*hcmv3.HttpConnectionManager][]*graph.Edge{}
		for _, e := range w.view.From(r) {
			if around, place := graph.Around[*hcmv3.HttpConnectionManager](e.Place); place != nil {
				w.edges[r][around] = append(w.edges[r][around], e)
			}
		}
	}
	return w.edges[r]
}
