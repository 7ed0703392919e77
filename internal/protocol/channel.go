package protocol

import (
	"maps"
	"slices"
	"time"
)

// stream is the state of a stream.
type stream struct {
	Opened
	id       string
	requests int
	node     string
	client   *client // nil: not known
	closed   bool
	ended    time.Time
	waits    map[*wait]bool
	channels map[string]*channel
	ordered  []*channel
}

// channel returns the state of a type on the stream. A stream for one type has one, whatever type a message names.
func (s *stream) channel(typeURL string) *channel {
	if s.TypeURL != "" {
		typeURL = s.TypeURL
	}
	ch := s.channels[typeURL]
	if ch == nil {
		ch = &channel{
			s: s, typeURL: typeURL, byNonce: map[string]*reply{}, held: map[string]*held{}, asked: map[string]*interest{}, dropped: map[string]drop{}, heard: map[string]int{}, warming: map[string]int{},
			lost: map[string]*held{}, owed: map[string]int{},
		}
		s.channels[typeURL] = ch
		s.ordered = append(s.ordered, ch)
	}
	return ch
}

// channel is the state of one type on a stream.
type channel struct {
	s       *stream
	typeURL string

	requests   int // so far
	asking     int // the last event that was one
	responses  int
	byNonce    map[string]*reply
	replies    []*reply
	nonceless  bool      // a response had no nonce
	last       *reply    // the last response
	lastAnswer *reply    // the newest response that the client has answered
	accepted   string    // SotW: the version that the client uses
	content    *Response // the last response

	asked       map[string]*interest // the names that the client is subscribed to
	named       []string             // SotW: the names of the last request that differs from the one before
	wildcard    bool
	explicit    bool            // it has subscribed to a name, so that no names no longer mean all
	collections []string        // of xdstp, as globs
	wild        bool            // it has had a wildcard subscription
	dropped     map[string]drop // * is the wildcard
	served      int             // the newest request that a response has shown the server to know
	heard       map[string]int  // the event that last sent or removed a name
	owed        map[string]int  // how often a name was asked for, and not sent since
	vague       int             // the last event that sent a resource whose name is not known
	widened     bool            // the server takes it for one that wants all
	// unrequested: the server sends what the client has not named.
	unrequested bool
	clings      bool // it does so after the client has left the wildcard

	known   map[string]string // Delta: the versions that the client has from an earlier stream
	resumed bool              // SotW: it has a version from an earlier stream
	earlier map[string]*held  // what it has from there, as far as the recording shows it
	held    map[string]*held  // what the server has sent, and not removed
	missing map[string]*held  // SotW: what a complete state lacked
	lost    map[string]*held  // the same of a partial one, until it is sent again
	warming map[string]int    // endpoints: the event that has changed the cluster
	since   changes           // the last response
	loop    loop
	hasty   bool    // the server answers stale requests: the later responses repeat each other
	polling polling // REST
}

// reply is a response, as long as it matters.
type reply struct {
	at       At
	time     time.Time
	number   int // of the responses of the type, from 1
	event    int // its number
	version  string
	requests int // how many there were before it
	answered bool
	accepted bool // by the answer
	skipped  bool // the answer to it has been missed
	onlyNew  bool // it has only what was newly requested
	partial  bool // it has nothing that was sent before and has not changed
	oddities oddities
}

// interest is a subscription to a name.
type interest struct {
	at      At
	request int  // the number of the first request with it
	before  bool // it was subscribed to before, and unsubscribed
}

// drop is when the client has unsubscribed from a name.
type drop struct {
	request int // the number of the request
	time    time.Time
}

// held is a resource as it was last sent.
type held struct {
	at       At
	version  string // of the response in SotW, of the resource in Delta
	own      string // of the resource
	content  uint64
	opaque   bool
	response int
}

// changes is what a client has said since the last response.
type changes struct {
	requests int       // that ask for something, and may not have been answered: neither the answer to a response nor stale
	asked    time.Time // when the last of them was sent
	stale    int       // SotW: with an older nonce
	nacks    int
}

// complete reports whether a response has all resources, so that what it lacks is deleted.
func (ch *channel) complete() bool {
	return !ch.s.Delta && (ch.typeURL == listeners || ch.typeURL == clusters || ch.typeURL == scopedRoutes)
}

// subscribed reports whether the client wants a resource.
func (ch *channel) subscribed(name string) bool { return ch.wildcard || ch.wants(name) }

// wants reports whether the client wants a resource by its name, or as a part of a collection.
func (ch *channel) wants(name string) bool {
	return ch.asked[name] != nil || slices.ContainsFunc(ch.collections, func(glob string) bool { return collects(glob, name) })
}

// answers returns the response that a request answers for the first time, nil if there is none.
func (ch *channel) answers(q *Request) *reply {
	if r := ch.byNonce[q.Nonce]; q.Nonce != "" && r != nil && !r.answered {
		return r
	}
	return nil
}

// stale reports whether a request of SotW was sent before the client saw the last response.
func (ch *channel) stale(q *Request) bool {
	r := ch.byNonce[q.Nonce]
	return !ch.s.Delta && ch.last != nil && q.Nonce != "" && r != nil && r != ch.last
}

// ask takes a request into the state.
func (ch *channel) ask(e *Event) {
	q := e.Request
	ch.requests++
	ch.polling.polled(q)
	first := ch.requests == 1
	answered := ch.answers(q)
	stale := ch.stale(q)
	changed := ch.subscribe(e, first)
	switch {
	case stale:
		ch.since.stale++
	case answered != nil && q.Error != nil:
		ch.since.nacks++
	}
	if changed || answered == nil && !stale {
		ch.since.requests++
		ch.since.asked = e.Time
		for _, name := range q.Names {
			ch.owed[name]++
		}
	}
	if first {
		ch.accepted, ch.known, ch.resumed = q.Version, q.Known, q.Version != ""
	}
	if answered != nil {
		answered.answered, answered.accepted = true, q.Error == nil
		if ch.lastAnswer == nil || answered.number > ch.lastAnswer.number {
			ch.lastAnswer = answered
		}
		if q.Error == nil {
			ch.accepted = answered.version
		}
	}
}

// subscribe changes the names that the client is subscribed to, and reports whether it asks for more or less.
func (ch *channel) subscribe(e *Event, first bool) bool {
	if ch.s.Delta {
		return ch.subscribeDelta(e, first)
	}
	q := e.Request
	changed := false
	if !ch.explicit && len(q.Names) == 0 { // the legacy form
		changed = !ch.wildcard
		ch.widen(e, true)
		return changed
	}
	if ch.explicit && slices.Equal(q.Names, ch.named) {
		return false
	}
	ch.explicit, ch.named = true, q.Names
	wildcard := slices.Contains(q.Names, "*")
	changed = wildcard != ch.wildcard
	ch.widen(e, wildcard)
	now := map[string]bool{}
	for _, name := range q.Names {
		now[name] = true
		if name != "*" && ch.asked[name] == nil {
			ch.add(e, name)
			changed = true
		}
	}
	for name := range ch.asked {
		if !now[name] {
			ch.drop(e, name)
			changed = true
		}
	}
	return changed
}

func (ch *channel) subscribeDelta(e *Event, first bool) bool {
	q := e.Request
	if first && len(q.Names) == 0 && len(q.Unsubscribe) == 0 {
		ch.widen(e, true)
		return true
	}
	for _, name := range q.Names {
		if name == "*" {
			ch.widen(e, true)
			continue
		}
		ch.add(e, name)
	}
	for _, name := range q.Unsubscribe {
		if name == "*" {
			ch.widen(e, false)
			continue
		}
		ch.drop(e, name)
	}
	return len(q.Names)+len(q.Unsubscribe) > 0
}

func (ch *channel) add(e *Event, name string) {
	_, before := ch.dropped[name]
	ch.explicit = true
	if isCollection(name) && ch.asked[name] == nil {
		ch.collections = append(ch.collections, name)
	}
	ch.asked[name] = &interest{at: e.At, request: ch.requests, before: before}
	delete(ch.dropped, name)
}

func (ch *channel) drop(e *Event, name string) {
	delete(ch.asked, name)
	ch.collections = slices.DeleteFunc(ch.collections, func(glob string) bool { return glob == name })
	ch.unsubscribe(e, name)
}

func (ch *channel) unsubscribe(e *Event, name string) { ch.dropped[name] = drop{ch.requests, e.Time} }

// widen notes whether the subscription is to all.
func (ch *channel) widen(e *Event, wildcard bool) {
	switch {
	case wildcard:
		ch.wild = true
		delete(ch.dropped, "*")
	case ch.wildcard:
		ch.unsubscribe(e, "*")
	}
	ch.wildcard = wildcard
}

// sent takes a response into the state.
func (ch *channel) sent(e *Event, number int) {
	p := e.Response
	ch.responses++
	ch.polling.waiting = 0
	r := &reply{at: e.At, time: e.Time, number: ch.responses, event: number, version: p.Version, requests: ch.requests}
	if p.Nonce != "" {
		ch.byNonce[p.Nonce] = r
	} else {
		r.skipped, ch.nonceless = true, true // there is nothing to answer it with
	}
	ch.replies = append(ch.replies, r)
	r.oddities, ch.content = ch.odd(p), p
	if p.TypeURL != ch.typeURL || p.TypeURL == "" {
		r.skipped = true // the client ignores it
		ch.s.untyped(p, number)
		return
	}
	if ch.complete() {
		r.onlyNew, r.partial = ch.onlyNew(p), ch.partial(p)
		ch.forget(p)
		if r.onlyNew || r.partial {
			maps.Copy(ch.lost, ch.missing)
		}
	}
	ch.clings = ch.clings || ch.left() && len(ch.asked) > 0 && ch.exceeds(p)
	ch.last, ch.since = r, changes{requests: max(0, ch.since.requests-1), asked: ch.since.asked}
	ch.unrequested = ch.unrequested || !ch.wild && ch.requests > 0 && ch.exceeds(p)
	for i := range p.Resources {
		ch.hold(e.At, &p.Resources[i])
	}
	for _, name := range p.removed() {
		delete(ch.held, name)
		ch.heard[name] = number
	}
}

// untyped notes a response without a type: it can be about any.
func (s *stream) untyped(p *Response, number int) {
	if p.TypeURL == "" {
		for _, ch := range s.ordered {
			ch.vague = number
		}
	}
}

// onlyNew reports whether a complete response has only names that the client has added since the last one, or that did not
// exist.
func (ch *channel) onlyNew(p *Response) bool {
	return ch.complete() && !ch.wildcard && len(p.Resources) > 0 && len(ch.held) > 0 && !slices.ContainsFunc(p.Resources, func(r Resource) bool {
		i := ch.asked[r.Name]
		return i == nil || ch.held[r.Name] != nil && i.request <= ch.last.requests
	})
}

// partial reports whether a complete response has nothing that the client was sent before and that has not changed.
func (ch *channel) partial(p *Response) bool {
	return ch.complete() && len(p.Resources) > 0 && !slices.ContainsFunc(p.Resources, func(r Resource) bool {
		h := ch.held[r.Name]
		return h != nil && (h.opaque || r.Opaque || h.content == r.Content)
	})
}

// forget moves what a complete state lacks to the missing resources.
func (ch *channel) forget(p *Response) {
	there := map[string]bool{}
	for i := range p.Resources {
		if p.Resources[i].Name == "" {
			return // it can be any of them
		}
		there[p.Resources[i].Name] = true
	}
	ch.missing = map[string]*held{}
	for name, h := range ch.held {
		if there[name] {
			continue
		}
		if ch.kept(name) {
			ch.missing[name] = h
		}
		delete(ch.held, name)
	}
}

// kept reports whether the client wants a resource, and did so when the last response came.
func (ch *channel) kept(name string) bool {
	i := ch.asked[name]
	return ch.subscribed(name) && (i == nil || ch.last == nil || i.request <= ch.last.requests)
}

func (ch *channel) hold(at At, r *Resource) {
	if r.Name == "" {
		ch.vague = ch.last.event
		return
	}
	for _, name := range r.names() {
		ch.heard[name] = ch.last.event
		ch.owed[name] = max(0, ch.owed[name]-1)
		if i := ch.asked[name]; i != nil {
			ch.served = max(ch.served, i.request)
		}
	}
	if r.Unresolved || r.Heartbeat && ch.held[r.Name] != nil {
		return // it is nothing, or renews what is held
	}
	version := r.Version
	if !ch.s.Delta {
		version = ch.last.version
	}
	delete(ch.lost, r.Name)
	ch.held[r.Name] = &held{at, version, r.Version, r.Content, r.Opaque, ch.last.number}
}
