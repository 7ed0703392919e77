package conform

import (
	"maps"
	"slices"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	statusv3 "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/graph"
)

// client is a client that keeps the protocol, except for what scenarios send through it.
type client struct {
	*play
	streams map[string]*stream // by type; empty: the aggregated one
	types   map[string]*subscription
	reads   chan struct{} // full while the client does not read
	silent  bool          // it does not answer yet
	rejects int           // how many responses of each type it rejects
}

// subscription is what a client knows about a type.
type subscription struct {
	typeURL  string
	names    []string
	nonces   []string          // of the responses on the stream
	version  string            // SotW: what the client uses
	versions map[string]string // Delta: the same, by name
	rejected int
	open     bool            // it has asked for something, and got no response
	asked    bool            // on the stream
	answers  []proto.Message // that a silent client has not sent
}

func (p *play) client() *client {
	c := &client{play: p, reads: make(chan struct{}, 1), streams: map[string]*stream{}, types: map[string]*subscription{}}
	p.clients = append(p.clients, c)
	return c
}

func (c *client) of(kind graph.Kind) *subscription {
	url := graph.TypeURL(kind)
	if c.types[url] == nil {
		c.types[url] = &subscription{typeURL: url, versions: map[string]string{}}
	}
	return c.types[url]
}

// subscribe adds names to the subscription of a kind. Without names, the first one is a wildcard in the legacy form.
func (c *client) subscribe(kind graph.Kind, names ...string) {
	s := c.of(kind)
	for _, name := range names {
		if !slices.Contains(s.names, name) {
			s.names = append(s.names, name)
		}
	}
	c.request(s, names, nil)
}

// unsubscribe removes names from it.
func (c *client) unsubscribe(kind graph.Kind, names ...string) {
	s := c.of(kind)
	s.names = slices.DeleteFunc(s.names, func(name string) bool { return slices.Contains(names, name) })
	for _, name := range names {
		delete(s.versions, name)
	}
	c.request(s, nil, names)
}

// like subscribes as Envoy does: to all clusters and listeners, and to the rest by name.
func (c *client) like(kind graph.Kind) {
	if wildcard(kind) {
		c.subscribe(kind)
		return
	}
	names := slices.Concat(c.world.names(kind), c.missing[kind])
	c.subscribe(kind, names[:min(most, len(names))]...)
}

// request says to the server what the client wants.
func (c *client) request(s *subscription, more, less []string) {
	s.open = s.open || len(less) == 0
	if !c.delta {
		c.send(s, c.sotw(s, s.nonce()))
		return
	}
	q := &discoveryv3.DeltaDiscoveryRequest{TypeUrl: s.typeURL, ResourceNamesSubscribe: more, ResourceNamesUnsubscribe: less}
	if !s.asked {
		q.InitialResourceVersions = maps.Clone(s.versions)
	}
	c.send(s, q)
}

// sotw returns a request with a nonce.
func (c *client) sotw(s *subscription, nonce string) *discoveryv3.DiscoveryRequest {
	return &discoveryv3.DiscoveryRequest{TypeUrl: s.typeURL, ResourceNames: s.names, VersionInfo: s.version, ResponseNonce: nonce}
}

// nonce returns that of the last response.
func (s *subscription) nonce() string {
	if len(s.nonces) == 0 {
		return ""
	}
	return s.nonces[len(s.nonces)-1]
}

func (c *client) send(s *subscription, q proto.Message) {
	s.asked = true
	c.stream(s.typeURL).send(q)
}

// receive answers a response. Like Envoy, a client ignores those of a type that it has not requested.
func (c *client) receive(from *stream, m proto.Message) {
	s := c.types[m.(interface{ GetTypeUrl() string }).GetTypeUrl()]
	if s == nil || from.typeURL != "" && from.typeURL != s.typeURL {
		return
	}
	s.open = false
	var answer proto.Message
	switch p := m.(type) {
	case *discoveryv3.DiscoveryResponse:
		answer = c.answer(s, p)
	case *discoveryv3.DeltaDiscoveryResponse:
		answer = c.answerDelta(s, p)
	}
	if c.silent {
		s.answers = append(s.answers, answer)
		return
	}
	c.send(s, answer)
}

func (c *client) answer(s *subscription, p *discoveryv3.DiscoveryResponse) proto.Message {
	s.nonces = append(s.nonces, p.GetNonce())
	failure := c.failure(s)
	if failure == nil {
		s.version = p.GetVersionInfo()
	}
	q := c.sotw(s, p.GetNonce())
	q.ErrorDetail = failure
	return q
}

func (c *client) answerDelta(s *subscription, p *discoveryv3.DeltaDiscoveryResponse) proto.Message {
	s.nonces = append(s.nonces, p.GetNonce())
	q := &discoveryv3.DeltaDiscoveryRequest{TypeUrl: s.typeURL, ResponseNonce: p.GetNonce(), ErrorDetail: c.failure(s)}
	if q.GetErrorDetail() != nil {
		return q
	}
	for _, r := range p.GetResources() {
		if len(s.names) == 0 || slices.Contains(s.names, "*") || slices.Contains(s.names, r.GetName()) {
			s.versions[r.GetName()] = r.GetVersion()
		}
	}
	for _, name := range p.GetRemovedResources() {
		delete(s.versions, name)
	}
	return q
}

// failure returns why a response is rejected, nil if it is accepted.
func (c *client) failure(s *subscription) *statusv3.Status {
	if s.rejected >= c.rejects {
		return nil
	}
	s.rejected++
	return &statusv3.Status{Code: 3, Message: "xdslint conform rejects this on purpose"}
}

// answerNow sends the answers of a silent client.
func (c *client) answerNow() {
	c.silent = false
	for _, url := range slices.Sorted(maps.Keys(c.types)) {
		s := c.types[url]
		for _, answer := range s.answers {
			c.send(s, answer)
		}
		s.answers = nil
	}
}

// answerWith subscribes to more names in the last answer of a silent client, and sends the answers.
func (c *client) answerWith(kind graph.Kind, names []string) {
	s := c.of(kind)
	if len(s.answers) == 0 {
		return
	}
	more := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(s.names, name) })
	s.names = names
	switch q := s.answers[len(s.answers)-1].(type) {
	case *discoveryv3.DiscoveryRequest:
		q.ResourceNames = names
	case *discoveryv3.DeltaDiscoveryRequest:
		q.ResourceNamesSubscribe = more
	}
	s.open = true
}

// reconnect opens the streams again, as a client that has kept its resources.
func (c *client) reconnect() {
	c.close()
	for _, kind := range kinds {
		s := c.types[graph.TypeURL(kind)]
		if s == nil {
			continue
		}
		s.nonces, s.asked = nil, false
		c.request(s, s.names, nil)
	}
}

// close ends the client's streams.
func (c *client) close() {
	for _, key := range slices.Sorted(maps.Keys(c.streams)) {
		c.streams[key].end()
	}
	clear(c.streams)
}
