package reference

import (
	"maps"
	"slices"
	"strconv"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/protobuf/proto"
)

// sotw is a session of SotW.
type sotw struct {
	store    *Store
	typeURL  string // empty: aggregated
	channels map[string]*sotwChannel
	nonces   int
}

// sotwChannel is a type on it.
type sotwChannel struct {
	typeURL  string
	names    map[string]bool
	wildcard bool
	explicit bool   // the client has named something
	nonce    string // of the last response
	waiting  bool   // for the answer to it
	sent     map[string]int
}

// complete reports whether responses have all resources.
func (ch *sotwChannel) complete() bool {
	return ch.typeURL == Clusters || ch.typeURL == Listeners || ch.typeURL == Scopes
}

// Request implements Session.
func (s *sotw) Request(m proto.Message) []proto.Message {
	q := m.(*discoveryv3.DiscoveryRequest)
	url := q.GetTypeUrl()
	if s.typeURL != "" {
		url = s.typeURL
	}
	ch := s.channels[url]
	first := ch == nil
	if first {
		ch = &sotwChannel{typeURL: url, names: map[string]bool{}, sent: map[string]int{}}
		s.channels[url] = ch
	} else if q.GetResponseNonce() != ch.nonce {
		return nil // stale: the answer to the last response will say what the client wants
	}
	answer := ch.waiting
	ch.waiting = false
	if changed := ch.subscribe(q.GetResourceNames()); !first && !answer && !changed {
		clear(ch.sent) // the client asks for all once more
	}
	return s.respond(ch, first)
}

// subscribe takes the names of a request, and reports whether they change.
func (ch *sotwChannel) subscribe(names []string) bool {
	if len(names) == 0 && !ch.explicit {
		changed := !ch.wildcard
		ch.wildcard = true
		return changed
	}
	ch.explicit = true
	now := map[string]bool{}
	for _, name := range names {
		now[name] = true
	}
	wildcard := now["*"]
	delete(now, "*")
	changed := wildcard != ch.wildcard || !maps.Equal(now, ch.names)
	for name := range now {
		if !ch.names[name] {
			delete(ch.sent, name) // what is new is sent, even if it was sent before
		}
	}
	maps.DeleteFunc(ch.sent, func(name string, _ int) bool { return !wildcard && !now[name] && !now[collection(name)] })
	ch.names, ch.wildcard = now, wildcard
	return changed
}

// Changed implements Session.
func (s *sotw) Changed() []proto.Message { return changed(s.channels, s.respond) }

// respond returns the response with what the client lacks, if there is anything. The first response to a wildcard comes
// in any case.
func (s *sotw) respond(ch *sotwChannel, first bool) []proto.Message {
	if ch.waiting {
		return nil
	}
	wanted, version := s.store.get(ch.typeURL, ch.wildcard, ch.names)
	news := sorted(wanted)
	news = slices.DeleteFunc(news, func(name string) bool { return ch.sent[name] == wanted[name].version })
	lost := len(ch.sent)
	maps.DeleteFunc(ch.sent, func(name string, _ int) bool { _, there := wanted[name]; return !there })
	lost -= len(ch.sent)
	must := first && (ch.wildcard || ch.complete()) || ch.complete() && lost > 0
	if len(news) == 0 && !must {
		return nil
	}
	if ch.complete() {
		news = sorted(wanted)
	}
	s.nonces++
	ch.nonce, ch.waiting = strconv.Itoa(s.nonces), true
	p := &discoveryv3.DiscoveryResponse{VersionInfo: version, TypeUrl: ch.typeURL, Nonce: ch.nonce}
	for _, name := range news {
		p.Resources = append(p.Resources, wanted[name].body)
		ch.sent[name] = wanted[name].version
	}
	return []proto.Message{p}
}
