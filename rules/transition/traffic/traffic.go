// Package traffic tells whether requests that one snapshot serves are served by another one too: only these can suffer from a push.
// Where it cannot tell, it says that they are.
package traffic

import (
	"net"
	"strconv"

	"google.golang.org/protobuf/reflect/protoreflect"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/graph"
)

// Traffic is what comes to the places of a snapshot.
type Traffic struct {
	snapshot *graph.Snapshot
	entries  map[*graph.Resource][]Entry
	listened bool                                  // it has listeners
	others   map[*graph.Resource][]*graph.Resource // counterparts
	hosts    map[*graph.Resource]*hosts
}

// Entry is where traffic comes in.
type Entry struct {
	Resource *graph.Resource // a listener; in a snapshot without any, the resource that nothing else leads to
	By       *graph.Edge     // its reference by which the traffic goes on; nil if it goes no further
}

// Of a snapshot that is built.
func Of(s *graph.Snapshot) *Traffic {
	return &Traffic{
		snapshot: s, listened: len(s.All(graph.Listener)) > 0,
		entries: map[*graph.Resource][]Entry{}, others: map[*graph.Resource][]*graph.Resource{}, hosts: map[*graph.Resource]*hosts{},
	}
}

// Entries lists where the traffic of a resource comes in.
func (t *Traffic) Entries(r *graph.Resource) []Entry {
	if known, ok := t.entries[r]; ok {
		return known
	}
	seen := map[*graph.Resource]bool{r: true}
	var found []Entry
	for next := []Entry{{Resource: r}}; len(next) > 0; next = next[1:] {
		at := next[0].Resource
		above := t.snapshot.To(at)
		if at.Kind == graph.Listener || !t.listened && len(above) == 0 {
			found = append(found, next[0])
			continue
		}
		for _, e := range above {
			if e.From.Kind == graph.Listener || !seen[e.From] { // a listener can lead here by several filter chains
				seen[e.From] = true
				next = append(next, Entry{e.From, e})
			}
		}
	}
	t.entries[r] = found
	return found
}

// Continues tells whether requests that come to the place of a reference are served in the other snapshot too, wherever they go
// there: by a listener with the same name or address, a virtual host for the same domain, a route for the same path.
func (t *Traffic) Continues(e *graph.Edge, in *Traffic) bool {
	for _, entry := range t.Entries(e.From) {
		by := entry.By
		if by == nil {
			by = e
		}
		for _, other := range in.counterparts(entry.Resource) {
			if meets(by, other) && in.answers(other, e) {
				return true
			}
		}
	}
	return false
}

// counterparts lists the entries that take over from one of another snapshot, or go on as they were.
func (t *Traffic) counterparts(entry *graph.Resource) []*graph.Resource {
	if known, ok := t.others[entry]; ok {
		return known
	}
	var all []*graph.Resource
	for _, r := range t.snapshot.All(entry.Kind) {
		if r.Name == entry.Name || entry.Kind == graph.Listener && SharesAddress(r, entry) {
			all = append(all, r)
		}
	}
	t.others[entry] = all
	return all
}

// answers tells whether an entry serves the requests for which the place of a reference of another snapshot is.
func (t *Traffic) answers(entry *graph.Resource, e *graph.Edge) bool {
	host, isHost := enclosing[*routev3.VirtualHost](e.Place, "envoy.config.route.v3.VirtualHost")
	if !isHost {
		return true
	}
	route, isRoute := enclosing[*routev3.Route](e.Place, "envoy.config.route.v3.Route")
	for _, other := range t.hostsOf(entry).overlapping(host.GetDomains()) {
		if other.GetMatcher() != nil {
			return true
		}
		for _, r := range other.GetRoutes() {
			if r.GetDirectResponse().GetStatus() < 400 && (!isRoute || pathsOverlap(route.GetMatch(), r.GetMatch())) {
				return true
			}
		}
	}
	return false
}

// hostsOf lists the virtual hosts to which an entry leads.
func (t *Traffic) hostsOf(entry *graph.Resource) *hosts {
	if known, ok := t.hosts[entry]; ok {
		return known
	}
	found := &hosts{exact: map[string][]*routev3.VirtualHost{}}
	seen := map[*graph.Resource]bool{entry: true}
	for next := []*graph.Resource{entry}; len(next) > 0; next = next[1:] {
		next[0].Walk(func(at *graph.Place) {
			if host, ok := at.Message.Interface().(*routev3.VirtualHost); ok {
				found.add(host)
			}
		})
		for _, e := range t.snapshot.From(next[0]) {
			if to := e.To; to != nil && to.Kind != graph.Cluster && !seen[to] {
				seen[to] = true
				next = append(next, to)
			}
		}
	}
	t.hosts[entry] = found
	return found
}

func enclosing[M any](at *graph.Place, name protoreflect.FullName) (m M, ok bool) {
	around := at.Enclosing(name)
	if around == nil {
		return m, false
	}
	m, ok = around.Message.Interface().(M)
	return m, ok
}

// meets tells whether connections that come to the filter chain around a reference can come to some chain of another listener.
func meets(e *graph.Edge, other *graph.Resource) bool {
	chain, ok := enclosing[*listenerv3.FilterChain](e.Place, "envoy.config.listener.v3.FilterChain")
	l, isListener := other.Message.(*listenerv3.Listener)
	if !ok || !isListener || l.GetFilterChainMatcher() != nil || l.GetDefaultFilterChain() != nil {
		return true
	}
	names := chain.GetFilterChainMatch().GetServerNames()
	for _, c := range l.GetFilterChains() {
		if others := c.GetFilterChainMatch().GetServerNames(); len(names) == 0 || len(others) == 0 || domainsOverlap(names, others) {
			return true
		}
	}
	return false
}

// SharesAddress tells whether two listeners are bound to an address that both have.
func SharesAddress(a, b *graph.Resource) bool {
	have := map[string]bool{}
	for _, address := range Addresses(a) {
		have[address] = true
	}
	for _, address := range Addresses(b) {
		if have[address] {
			return true
		}
	}
	return false
}

// Addresses of a listener, as they are compared and shown.
func Addresses(r *graph.Resource) (all []string) {
	l, ok := r.Message.(*listenerv3.Listener)
	if !ok {
		return nil
	}
	list := []*corev3.Address{l.GetAddress()}
	for _, more := range l.GetAdditionalAddresses() {
		list = append(list, more.GetAddress())
	}
	for _, address := range list {
		if text := addressText(address); text != "" {
			all = append(all, text)
		}
	}
	return all
}

func addressText(a *corev3.Address) string {
	socket := a.GetSocketAddress()
	switch {
	case a.GetPipe() != nil:
		return a.GetPipe().GetPath()
	case socket == nil:
		return ""
	case socket.GetNamedPort() != "":
		return net.JoinHostPort(socket.GetAddress(), socket.GetNamedPort())
	}
	text := net.JoinHostPort(socket.GetAddress(), strconv.Itoa(int(socket.GetPortValue())))
	if socket.GetProtocol() == corev3.SocketAddress_UDP {
		text += "/udp"
	}
	return text
}
