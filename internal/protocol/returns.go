package protocol

import (
	"maps"
	"slices"
	"time"
)

// returns are the clauses about how a client ends streams, and what it does after the server has ended one.
func returns() []*Clause {
	return []*Clause{
		{
			Name: "stream-ended", Level: Should, Client: true,
			Breach:    "a client ends its stream instead of answering a response",
			Says:      "A client answers a response that it cannot use with a NACK, and the stream stays open.",
			Effect:    "The server does not learn what is wrong. When the client has reconnected, it gets the same again.",
			Section:   "#ack-and-nack-semantics-summary",
			onRequest: streamKept,
			onClose:   streamEnded,
		},
		{
			Name: "reconnect-missing", Level: Must, Client: true,
			Breach:    "the server ends a stream, and the client does not subscribe again",
			Says:      "When a stream ends, the client opens another one and subscribes to all types again: the server has no state of the stream before.",
			Effect:    "The client keeps what it has for ever.",
			Section:   "#basic-protocol-overview",
			onRequest: reconnected,
			onClose:   away,
		},
		{
			Name: "reconnect-names-lost", Level: Must, Client: true,
			Breach:    "a client reconnects, and does not subscribe to a name that it had",
			Says:      "After a reconnection, a client subscribes to all names that it is interested in: the server has no state of the stream before.",
			Effect:    "The server does not send the changes of the resource. The client keeps it as it is.",
			Section:   "#how-the-client-specifies-what-resources-to-return",
			onRequest: reconnectNamesLost,
		},
		{
			Name: "reconnect-without-versions", Level: Advice, Client: true,
			Breach:    "a client reconnects, and does not say which versions it has",
			Says:      "The first request for a type after a reconnection has the versions that the client accepted: `version_info` in SotW, `initial_resource_versions` in Delta.",
			Effect:    "In Delta, the server sends everything again, and does not say what was deleted in the meantime: the client keeps it.",
			Section:   "#ack-nack-and-resource-type-instance-version",
			onRequest: reconnectWithoutVersions,
		},
		{
			Name: "reconnect-loop", Level: Should, Client: true,
			Breach:  "a client opens streams that fail, one after the other, without a pause",
			Says:    "When streams fail before anything is answered on them, a client waits before it opens another one, longer each time.",
			Effect:  "A server that is overloaded, or starting, is kept from recovering. Envoy begins with up to 0.5 seconds, gRPC with 1 second.",
			Section: "https://github.com/grpc/grpc/blob/master/doc/connection-backoff.md",
			onClose: reconnectLoop,
		},
	}
}

// before returns how the type was when the last stream of the client ended, if the server has ended it and the request is
// the first for the type. It returns nothing if that is not certain.
func (m *moment) before() *past {
	c := m.s.client
	if m.ch.requests > 0 || c == nil || c.shared {
		return nil
	}
	p := c.past[m.ch.typeURL]
	if p == nil || !p.server || !m.Clients && m.event.Time.Sub(p.time) > Slowness*m.Patience { // it may have been started again
		return nil
	}
	return p
}

// endedInstead reports whether the client ends the stream while a response has no answer.
func (ch *channel) endedInstead(e *Event) bool {
	r := ch.last
	return e.Closed.Client && ch.requests > 0 && r != nil && !r.answered && !r.skipped && e.Time.Sub(r.time) < Patience
}

func streamKept(m *moment) { m.testIf(m.ch.answers(m.request) != nil) }

// streamEnded: a client that is stopped also ends its stream. One that does so twice is not.
func streamEnded(m *moment) {
	c := m.s.client
	if c != nil && !c.shared && m.ch.endedInstead(m.event) && (m.Clients || c.ended) {
		m.breachAfter(m.ch.last.at, "the response", "", "the client ends the stream, and has not answered a response")
	}
}

// reconnected expects the types of the stream before on the stream that begins. Names may have become useless by what the
// server sends meanwhile: only a client that is under test is expected to ask for them.
func reconnected(m *moment) {
	c := m.s.client
	if m.s.requests > 0 || c == nil || c.shared {
		return
	}
	for _, url := range slices.Sorted(maps.Keys(c.past)) {
		p := c.past[url]
		if !p.server || !p.wildcard && (!m.Clients || len(p.names) == 0) {
			continue
		}
		later := *m
		later.ch = m.s.channel(url)
		later.wait(Slowness*m.Patience, func(m *moment) bool {
			if m.ch.requests == 0 {
				m.breachAfter(p.at, "the stream before, on which it did so", "", "the client has not subscribed to %s for %s", short(url), seconds(Slowness*m.Patience))
			}
			return true
		})
	}
}

// away expects a client that is under test to open another stream.
func away(m *moment) {
	if c := m.s.client; m.Clients && m.event.Closed.Server && c != nil && !c.shared && m.ch == m.s.ordered[0] {
		m.gone = append(m.gone, absence{c, m.copy(), m.event.Time.Add(Slowness * m.Patience)})
	}
}

func (m *moment) copy() *moment {
	out := *m
	return &out
}

// reconnectNamesLost looks after a while: a client may subscribe in several requests. What it was sent of other types
// meanwhile can be the reason for a change, unless it is under test: it is sent what it had.
func reconnectNamesLost(m *moment) {
	p := m.before()
	if p == nil || !m.Clients && m.otherSince(p.event) || len(p.names) == 0 && !p.wildcard {
		return
	}
	m.wait(m.Patience, func(m *moment) bool {
		if p.wildcard && !m.ch.wild {
			m.breachAfter(p.at, "the end of the stream before", "", "the client was subscribed to all resources before, and is not now")
			return true
		}
		for _, name := range p.names {
			if _, dropped := m.ch.dropped[name]; m.ch.asked[name] == nil && !dropped {
				m.breachAfter(p.at, "the end of the stream before", "", "the client was subscribed to %q before, and is not now", name)
				return true
			}
		}
		return true
	})
}

func reconnectWithoutVersions(m *moment) {
	p := m.before()
	if p == nil || !p.versions {
		return
	}
	m.test()
	switch {
	case m.s.Delta && len(m.request.Known) == 0:
		m.breachAfter(p.at, "the end of the stream before", "", "the client has accepted resources, and the request has no initial_resource_versions")
	case !m.s.Delta && m.request.Version == "":
		m.breachAfter(p.at, "the end of the stream before", "", "the client has accepted a version, and the request has none")
	}
}

// FewFailures is how many streams can fail one after the other, before the time between them matters.
const FewFailures = 5

// noPause is too short for them all.
const noPause = 200 * time.Millisecond

func reconnectLoop(m *moment) {
	c := m.s.client
	if c == nil || m.ch != m.s.ordered[0] {
		return
	}
	if c.shared || slices.ContainsFunc(m.s.ordered, func(ch *channel) bool { return ch.responses > 0 }) {
		c.failures = nil
		return
	}
	c.failures = append(c.failures, m.event.Time)
	if len(c.failures) < FewFailures {
		return
	}
	m.test()
	if d := m.event.Time.Sub(c.failures[0]); d < noPause {
		m.breach("", "the client has opened %d streams within %s, and nothing was answered on them", FewFailures, rounded(d))
	}
	c.failures = c.failures[1:]
}
