package reference

import (
	"maps"
	"slices"
	"strconv"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/protobuf/proto"
)

// deltaSession is a session of Delta.
type deltaSession struct {
	store    *Store
	typeURL  string // empty: aggregated
	channels map[string]*deltaChannel
	nonces   int
}

// deltaChannel is a type on it.
type deltaChannel struct {
	typeURL  string
	names    map[string]bool
	wildcard bool
	nonce    string // of the last response
	waiting  bool   // for the answer to it
	sent     map[string]string
	owed     map[string]bool // names that must be answered, whatever the client has
}

// Request implements Session.
func (s *deltaSession) Request(m proto.Message) []proto.Message {
	q := m.(*discoveryv3.DeltaDiscoveryRequest)
	url := q.GetTypeUrl()
	if s.typeURL != "" {
		url = s.typeURL
	}
	ch := s.channels[url]
	first := ch == nil
	if first {
		ch = &deltaChannel{typeURL: url, names: map[string]bool{}, sent: map[string]string{}, owed: map[string]bool{}}
		s.channels[url] = ch
		ch.wildcard = len(q.GetResourceNamesSubscribe())+len(q.GetResourceNamesUnsubscribe()) == 0 && url != VirtualHosts
		maps.Copy(ch.sent, q.GetInitialResourceVersions())
	}
	if q.GetResponseNonce() != "" && q.GetResponseNonce() == ch.nonce {
		ch.waiting = false
	}
	for _, name := range q.GetResourceNamesSubscribe() {
		ch.subscribe(name)
	}
	for _, name := range q.GetResourceNamesUnsubscribe() {
		ch.unsubscribe(name)
	}
	return slices.Concat(s.respond(ch, first), s.warm(url))
}

// warm returns the endpoints that a change of clusters has made due.
func (s *deltaSession) warm(typeURL string) []proto.Message {
	if ch := s.channels[Endpoints]; typeURL == Clusters && ch != nil {
		return s.respond(ch, false)
	}
	return nil
}

func (ch *deltaChannel) subscribe(name string) {
	if name == "*" {
		ch.wildcard = true
		return
	}
	ch.names[name], ch.owed[name] = true, true
}

func (ch *deltaChannel) unsubscribe(name string) {
	switch {
	case name == "*":
		ch.wildcard = false
		maps.DeleteFunc(ch.sent, func(name, _ string) bool { return !ch.names[name] })
		return
	case ch.wildcard && ch.names[name]:
		ch.owed[name] = true // the client does not know whether the wildcard includes it
	case !ch.wildcard:
		delete(ch.sent, name)
		delete(ch.owed, name)
	}
	delete(ch.names, name)
}

// Changed implements Session.
func (s *deltaSession) Changed() []proto.Message { return changed(s.channels, s.respond) }

func (s *deltaSession) respond(ch *deltaChannel, first bool) []proto.Message {
	if ch.waiting {
		return nil
	}
	wanted, version := s.store.get(ch.typeURL, ch.wildcard, ch.names)
	p := &discoveryv3.DeltaDiscoveryResponse{SystemVersionInfo: version, TypeUrl: ch.typeURL}
	for _, name := range sorted(wanted) {
		r := wanted[name]
		if own := strconv.Itoa(r.version); ch.owed[name] || ch.owed[collection(name)] || ch.sent[name] != own {
			p.Resources = append(p.Resources, &discoveryv3.Resource{Name: name, Version: own, Resource: r.body})
			if of := s.channels[Endpoints]; ch.typeURL == Clusters && of != nil && of.names[name] && ch.sent[name] != "" && ch.sent[name] != own {
				of.owed[name] = true // Envoy waits for the endpoints of a cluster that changes
			}
			ch.sent[name] = own
		}
	}
	for name := range ch.sent {
		ch.owed[name] = ch.owed[name] || wanted[name].body == nil
	}
	for _, name := range sorted(ch.owed) {
		_, known := ch.sent[name]
		switch {
		case !ch.owed[name] || wanted[name].body != nil || slices.ContainsFunc(sorted(wanted), func(other string) bool { return collection(other) == name }):
		case ch.typeURL == VirtualHosts && !known: // Envoy waits for a resource with this alias
			p.Resources = append(p.Resources, &discoveryv3.Resource{Name: name, Aliases: []string{name}})
		default:
			p.RemovedResources = append(p.RemovedResources, name)
			delete(ch.sent, name)
		}
	}
	clear(ch.owed)
	must := first && (ch.wildcard || ch.typeURL == VirtualHosts)
	if len(p.Resources)+len(p.RemovedResources) == 0 && !must {
		return nil
	}
	s.nonces++
	ch.nonce, ch.waiting = strconv.Itoa(s.nonces), true
	p.Nonce = ch.nonce
	return []proto.Message{p}
}
