package protocol

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// repeats are the clauses about responses that say nothing new.
func repeats() []*Clause {
	return []*Clause{
		{
			Name: "resent-unchanged", Level: Should,
			Breach:     "a response repeats what the client has, without a request for it",
			Says:       "A server sends a response only when resources have changed, or when the client asks for more. An ACK asks for nothing.",
			Effect:     "Envoy and gRPC process the response again, and answer it. If the server answers ACKs, both are busy without an end.",
			Section:    "#when-to-send-an-update",
			onRequest:  acknowledged,
			onResponse: resentUnchanged,
		},
		{
			Name: "new-version-same-content", Level: Advice,
			Breach:     "a new version has the content of the one before",
			Says:       "A server sends a response when resources have changed. A new version of the same content costs as much as a change.",
			Effect:     "Envoy compares the contents of listeners and clusters, and changes nothing. All the same, each client decodes and answers the response.",
			Harmless:   "the client has the content already.",
			Section:    "#when-to-send-an-update",
			onRequest:  acknowledged,
			onResponse: newVersionSameContent,
		},
		{
			Name: "stale-request-answered", Level: Should,
			Breach:     "a response answers a request with a stale nonce",
			Says:       "In SotW, a server does not answer a request whose nonce is older than the last response. The client has yet to see that response, and will answer it.",
			Effect:     "The client gets the same resources twice. With two changes in flight, the number of responses grows with each.",
			Harmless:   "the client gets what it has asked for, twice.",
			Section:    "#resource-updates",
			onRequest:  stale,
			onResponse: staleRequestAnswered,
		},
		{
			Name: "nack-loop", Level: Advice,
			Breach:     "a server answers each NACK at once with what was rejected",
			Says:       "After a NACK, a server waits until it has something else to send. The protocol does not forbid to send the same again.",
			Effect:     "Envoy and gRPC reject it again at once. Both sides are busy without an end: go-control-plane v0.14.0 sends more than 10,000 responses a second.",
			Section:    "#nack",
			onRequest:  rejected,
			onResponse: nackLoop,
		},
	}
}

// repeat is how a response repeats what was sent before.
type repeat uint8

const (
	different   repeat = iota
	sameVersion        // the same content with the same version
	newVersion         // the same content with another version
)

// repeated compares a response with what the client was sent before it on the stream. What cannot be compared is
// different, and so is a response that renews a TTL.
func (c *Checker) repeated(ch *channel, p *Response) repeat {
	if ch.last == nil || len(p.Removed) > 0 || ch.complete() && len(ch.lacks(p)) > 0 || !ch.complete() && len(p.Resources) == 0 {
		return different
	}
	result := sameVersion
	if !ch.s.Delta && p.Version != ch.last.version {
		result = newVersion
	}
	for i := range p.Resources {
		r := &p.Resources[i]
		h := ch.held[r.Name]
		if h == nil || r.Name == "" || r.Opaque || h.opaque || r.TTL || r.Heartbeat || r.Content != h.content {
			return different
		}
		switch {
		case ch.s.Delta && r.Version != h.version:
			result = newVersion
		case !ch.s.Delta && p.Version == ch.last.version && p.Version != h.version:
			return different // the rest of a state that is sent in several responses
		}
	}
	if result == newVersion && ch.part(p) {
		return different
	}
	return result
}

// part reports whether a response of SotW can be the first of several: it lacks something that the client wants.
func (ch *channel) part(p *Response) bool {
	if ch.s.Delta || ch.complete() {
		return false
	}
	left := maps.Clone(ch.asked)
	for i := range p.Resources {
		delete(left, p.Resources[i].Name)
	}
	return len(left) > 0 || slices.ContainsFunc(ch.lacks(p), ch.subscribed)
}

// unasked reports whether nothing since the last response is a reason for a new one with the same content. Endpoints,
// routes and secrets are sent again when what refers to them has changed, so a response of another type is a reason.
func (m *moment) unasked() bool {
	ch := m.ch
	if m.asked() || ch.since.nacks > 0 || ch.hasty {
		return false
	}
	if ch.typeURL == listeners || ch.typeURL == clusters {
		return true
	}
	for url, event := range m.lastByType {
		if url != ch.typeURL && event > ch.last.event {
			return false
		}
	}
	return true
}

// asked reports whether the client has asked for something, to which the server may still answer. An answer can consist of
// several responses, each with other resources.
func (m *moment) asked() bool {
	ch := m.ch
	if m.event.Time.Sub(ch.since.asked) > m.Patience {
		return false
	}
	return ch.since.requests > 0 || slices.ContainsFunc(m.response.Resources, func(r Resource) bool { return ch.owed[r.Name] > 0 })
}

// answersStale reports whether only stale requests can be the reason of the response.
func (m *moment) answersStale() bool { return m.ch.since.stale > 0 && !m.ch.last.answered }

// acknowledged notes an ACK, after which a server that keeps the clause sends nothing.
func acknowledged(m *moment) { m.testIf(m.ch.answers(m.request) != nil && m.request.Error == nil) }

// rejected notes a NACK.
func rejected(m *moment) { m.testIf(m.ch.answers(m.request) != nil && m.request.Error != nil) }

// stale notes a request with a stale nonce, while the last response has no answer.
func stale(m *moment) { m.testIf(m.ch.stale(m.request) && !m.ch.last.answered) }

func resentUnchanged(m *moment) {
	if m.repeats == sameVersion && m.unasked() && !m.answersStale() {
		m.breachAfter(m.ch.last.at, "the response before", "", "the response has what the client was sent before, and nothing has asked for it")
	}
	m.besidesChanges("%q is sent again as it is, besides what has changed", func(now, held string) bool { return now == held })
}

// besidesChanges reports a resource of Delta that is sent with the content it had, in a response with others that have changed.
func (m *moment) besidesChanges(format string, versions func(now, held string) bool) {
	if !m.s.Delta || m.repeats != different || m.ch.last == nil || !m.unasked() {
		return
	}
	for i := range m.response.Resources {
		r := &m.response.Resources[i]
		h := m.ch.held[r.Name]
		if h != nil && r.Name != "" && !r.Opaque && !h.opaque && !r.TTL && !r.empty() && r.Content == h.content && versions(r.Version, h.version) {
			m.breachAfter(h.at, "the response with it", r.Name, format, r.Name)
			return
		}
	}
}

func newVersionSameContent(m *moment) {
	if m.repeats == newVersion && m.unasked() && !m.answersStale() {
		m.breachAfter(m.ch.last.at, "the response before", m.response.Version, "the response has a new version of what the client was sent before")
	}
	m.besidesChanges("%q has a new version and the content that it had, besides what has changed", func(now, held string) bool { return now != held })
}

func staleRequestAnswered(m *moment) {
	if m.repeats != different && m.unasked() && m.answersStale() {
		m.ch.hasty = !m.trial
		m.breachAfter(m.ch.last.at, "the response that the client has not seen when it sent the stale request", "", "the response has what the last one had, and only a stale request is between them")
	}
}

// loop counts responses that repeat what was rejected.
type loop struct {
	first   *moment
	began   time.Time
	count   int
	rejects time.Time
}

// A server that sends the same again a few times, or slowly, has a reason; one that does so at once does not.
const (
	fewResends = 3
	slowResend = time.Second
)

func nackLoop(m *moment) {
	ch := m.ch
	if ch.since.nacks == 0 || m.repeats == different && !m.sameUnknown() || m.asked() || m.event.Time.Sub(ch.last.time) > slowResend {
		m.endLoop(ch)
		return
	}
	if ch.loop.count == 0 {
		first := *m
		ch.loop.first, ch.loop.began = &first, m.event.Time
	}
	ch.loop.count++
	ch.loop.rejects = m.event.Time
}

// sameUnknown reports whether a response of SotW has the version of the last one, and contents that cannot be compared.
func (m *moment) sameUnknown() bool {
	return !m.s.Delta && m.response.Version != "" && m.response.Version == m.ch.last.version &&
		slices.ContainsFunc(m.response.Resources, func(r Resource) bool { return r.Opaque })
}

// endLoop reports a loop that has ended.
func (c *Checker) endLoop(ch *channel) {
	if l := ch.loop; l.count >= fewResends {
		l.first.breach("", "the response repeats what the client has rejected, %d times within %s", l.count, rounded(l.rejects.Sub(l.began)))
	}
	ch.loop = loop{}
}

func rounded(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", max(1, d.Milliseconds()))
	}
	return d.Round(time.Second).String()
}
