package apply

import (
	"maps"
	"slices"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"

	"github.com/xdslint/xdslint/internal/redact"
)

// stream is one open stream of an Envoy.
type stream struct {
	delta         bool
	typeURL       string // empty: an aggregated stream
	peer          string // address
	known         bool   // a request has arrived, so that the node is known
	node          string
	subscriptions map[string]*subscription // by type URL
	responses     int                      // so far
}

// aggregated reports whether all types share the stream.
func (s *stream) aggregated() bool { return s.typeURL == "" }

// client identifies the Envoy. An aggregated stream is the only one of its Envoy; separate streams of one Envoy share a connection.
func (s *stream) client() any {
	if s.aggregated() {
		return s
	}
	return s.peer
}

// String describes the stream in messages.
func (s *stream) String() string {
	if s.peer == "" {
		return "an Envoy"
	}
	return "the Envoy at " + s.peer
}

// subscription is what a stream has requested and received of one type.
type subscription struct {
	typeURL  string
	wildcard bool
	named    bool // names were requested before: then a request without names no longer means all
	names    map[string]bool
	open     []response // sent, but neither ACKed nor NACKed yet
	nacked   *nack      // the last NACK, if no ACK followed
	last     int        // the number of its last response among those of the stream; 0: there is none

	// SotW: the last version that was sent, and the last one that was ACKed with the names that it was sent for.
	sent, acked string
	holds       names

	// Delta: the version of each resource, as sent and as ACKed.
	given, has map[string]string
	latest     *discoveryv3.DeltaDiscoveryRequest
	stray      map[string]bool // names that the server takes as sent, although they were not requested then
}

// response is a response that was sent.
type response struct {
	nonce   string
	version string
	names   names             // SotW: the names of the request
	updated map[string]string // Delta: name → version
	removed []string          // Delta
}

// names is a set of names, or all names.
type names struct {
	all bool
	set map[string]bool
}

func (n names) include(name string) bool { return n.all || n.set[name] }

const wildcard = "*"

// subscription returns the subscription to a type, and reports whether it is new.
func (s *stream) subscription(typeURL string) (sub *subscription, added bool) {
	if typeURL == "" {
		typeURL = s.typeURL
	}
	sub = s.subscriptions[typeURL]
	if sub == nil {
		sub = &subscription{typeURL: typeURL, names: map[string]bool{}, given: map[string]string{}, has: map[string]string{}, stray: map[string]bool{}}
		s.subscriptions[typeURL] = sub
		return sub, true
	}
	return sub, false
}

// asks reports whether the stream requests a name.
func (sub *subscription) asks(name string) bool { return sub.wildcard || sub.names[name] }

// had reports whether the stream has ACKed a resource of that name, and not its removal.
func (sub *subscription) had(name string, delta bool) bool {
	if delta {
		_, had := sub.has[name]
		return had
	}
	return sub.holds.include(name)
}

// misses lists the names that the stream requests again and that the server does not send it, since it takes them as sent.
func (sub *subscription) misses() []string {
	var all []string
	for name := range sub.stray {
		if _, given := sub.given[name]; !given && sub.asks(name) {
			all = append(all, name)
		}
	}
	return all
}

// asksAll reports whether the stream requests each of these names.
func (sub *subscription) asksAll(items map[string]types.ResourceWithTTL) bool {
	for name := range items {
		if !sub.asks(name) {
			return false
		}
	}
	return true
}

// wanted is the names that a SotW response answers. A request without names means all.
func wanted(requested []string) names {
	n := names{all: len(requested) == 0, set: map[string]bool{}}
	for _, name := range requested {
		n.set[name] = true
		n.all = n.all || name == wildcard
	}
	return n
}

func (s *stream) request(r *discoveryv3.DiscoveryRequest) *nack {
	sub, added := s.subscription(r.GetTypeUrl())
	asked := wanted(r.GetResourceNames())
	if added { // an Envoy that reconnects names the version that it has
		sub.acked = r.GetVersionInfo()
		sub.holds.all = asked.all && sub.acked != "" // if the cache has it too, it sends again only what is requested by name
	}
	if len(r.GetResourceNames()) > 0 {
		sub.named = true
	}
	sub.wildcard = asked.all && (len(r.GetResourceNames()) > 0 || !sub.named)
	sub.names = asked.set
	if r.GetErrorDetail() != nil {
		return s.nack(sub, r.GetResponseNonce(), r.GetErrorDetail().GetMessage())
	}
	sub.ack(r.GetResponseNonce())
	return nil
}

func (s *stream) respond(request *discoveryv3.DiscoveryRequest, r *discoveryv3.DiscoveryResponse) {
	sub, _ := s.subscription(r.GetTypeUrl())
	s.responses++
	sub.sent, sub.last = r.GetVersionInfo(), s.responses
	sub.open = append(sub.open, response{
		nonce: r.GetNonce(), version: r.GetVersionInfo(), names: wanted(request.GetResourceNames()),
	})
}

func (s *stream) requestDelta(r *discoveryv3.DeltaDiscoveryRequest) *nack {
	sub, added := s.subscription(r.GetTypeUrl())
	if added {
		sub.wildcard = len(r.GetResourceNamesSubscribe()) == 0
		for name, version := range r.GetInitialResourceVersions() {
			sub.given[name], sub.has[name] = version, version
		}
	}
	sub.latest = r
	for _, name := range r.GetResourceNamesSubscribe() {
		if name == wildcard {
			sub.wildcard = true
		} else {
			sub.names[name] = true
		}
	}
	for _, name := range r.GetResourceNamesUnsubscribe() {
		delete(sub.names, name)
		delete(sub.given, name)
		delete(sub.has, name)
		if name == wildcard {
			sub.wildcard = false
		}
	}
	if r.GetErrorDetail() != nil {
		return s.nack(sub, r.GetResponseNonce(), r.GetErrorDetail().GetMessage())
	}
	sub.ack(r.GetResponseNonce())
	return nil
}

func (s *stream) respondDelta(request *discoveryv3.DeltaDiscoveryRequest, r *discoveryv3.DeltaDiscoveryResponse) {
	sub, _ := s.subscription(r.GetTypeUrl())
	one := response{nonce: r.GetNonce(), version: r.GetSystemVersionInfo(), updated: map[string]string{}, removed: r.GetRemovedResources()}
	for _, resource := range r.GetResources() {
		one.updated[resource.GetName()] = resource.GetVersion()
	}
	maps.DeleteFunc(sub.stray, func(name string, _ bool) bool {
		if sub.asks(name) { // for go-control-plane, it stays as sent until a response has or removes it
			return one.updated[name] != "" || slices.Contains(one.removed, name)
		}
		return request == sub.latest
	})
	if request != sub.latest { // it was made before the latest request, and go-control-plane now notes its names as sent
		for _, name := range sub.latest.GetResourceNamesUnsubscribe() {
			sub.stray[name] = true
		}
	}
	sub.sent = one.version
	sub.open = append(sub.open, one)
	one.apply(sub, sub.given)
}

// answered removes the responses up to a nonce from the open ones, and returns them. The answer to the last one counts for all: while clusters
// warm, Envoy sends no other.
func (sub *subscription) answered(nonce string) []response {
	for i := range sub.open {
		if sub.open[i].nonce == nonce {
			done := sub.open[:i+1]
			sub.open = sub.open[i+1:]
			return done
		}
	}
	return nil
}

func (sub *subscription) ack(nonce string) {
	for _, one := range sub.answered(nonce) {
		one.apply(sub, sub.has)
		sub.acked, sub.holds, sub.nacked = one.version, one.names, nil
	}
}

func (s *stream) nack(sub *subscription, nonce, message string) *nack {
	done := sub.answered(nonce)
	if len(done) == 0 {
		return nil
	}
	// Envoy quotes what it rejects, with the secrets in it.
	sub.nacked = &nack{version{sub.typeURL, done[len(done)-1].version}, redact.Error(message), s.String()}
	return sub.nacked
}

// pending reports whether something was sent that is not ACKed.
func (sub *subscription) pending(delta bool) bool {
	if delta {
		return len(sub.open) > 0 || !maps.Equal(sub.given, sub.has)
	}
	return len(sub.open) > 0 || sub.sent != "" && sub.sent != sub.acked
}

// apply updates the versions of Delta resources with those of the response.
func (r *response) apply(sub *subscription, to map[string]string) {
	for name, version := range r.updated {
		if sub.asks(name) {
			to[name] = version
		}
	}
	for _, name := range r.removed {
		delete(to, name)
	}
}
