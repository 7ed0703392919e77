package protocol

import "slices"

// requests are the clauses about what a request of a client says besides its nonce.
func requests() []*Clause {
	return []*Clause{
		{
			Name: "request-version", Level: Must, Client: true,
			Breach:    "a request of SotW has another version than the last that the client accepted",
			Says:      "In SotW, a request that changes the subscription has the version of the last response that the client accepted.",
			Effect:    "A server that compares versions does not know what the client uses: it sends everything again, or does not send a change.",
			Section:   "#ack-nack-and-resource-type-instance-version",
			onRequest: requestVersion,
		},
		{
			Name: "nack-unsubscribes", Level: Should, Client: true,
			Breach:    "a NACK unsubscribes from names",
			Says:      "A NACK does not change the subscription: the client still wants the names that it had.",
			Effect:    "The server does not send the corrected resource, and the client keeps what it has.",
			Section:   "#ack-and-nack-semantics-summary",
			onRequest: nackUnsubscribes,
		},
		{
			Name: "unrequested-type-answered", Level: Should, Client: true,
			Breach:     "a client answers a response of a type that it has not requested",
			Says:       "A client ignores responses of types that it has not requested. Envoy and gRPC do not answer them.",
			Effect:     "The answer is the first request for the type and has no names: it subscribes to all resources of the type.",
			Section:    "#how-the-client-specifies-what-resources-to-return",
			onRequest:  unrequestedTypeAnswered,
			onResponse: unrequestedType,
		},
	}
}

func requestVersion(m *moment) {
	ch, q := m.ch, m.request
	if m.s.Delta || m.s.REST || ch.requests == 0 || ch.nonceless || ch.answers(q) != nil {
		return
	}
	m.test()
	if q.Version != ch.accepted {
		m.breach(q.Version, "the request has version %q, and the client uses %q", q.Version, ch.accepted)
	}
}

func nackUnsubscribes(m *moment) {
	ch, q := m.ch, m.request
	r := ch.answers(q)
	if q.Error == nil || r == nil || len(ch.asked) == 0 || m.besides(r) {
		return
	}
	m.test()
	for _, name := range ch.named { // SotW
		if !slices.Contains(q.Names, name) {
			m.breach("error_detail", "the NACK does not have %q, to which the client was subscribed", name)
			return
		}
	}
	if len(q.Unsubscribe) > 0 {
		m.breach(q.Unsubscribe[0], "the NACK unsubscribes from %q", q.Unsubscribe[0])
	}
}

// besides reports whether a response of another type can be the reason for what the client says now: it came after the last
// request for this type, and was not answered before a response of this type.
func (m *moment) besides(r *reply) bool {
	if m.s.TypeURL != "" {
		return m.otherSince(m.ch.asking)
	}
	return slices.ContainsFunc(m.s.ordered, func(other *channel) bool {
		return other != m.ch && other.last != nil && other.last.event > m.ch.asking && (!other.last.answered || other.asking > r.event)
	})
}

// otherSince reports whether a response of another type was sent since an event: it can be the reason for a change of the
// subscription.
func (m *moment) otherSince(event int) bool {
	for url, last := range m.lastByType {
		if url != m.ch.typeURL && last > event {
			return true
		}
	}
	return false
}

// unrequestedType notes that the server sends such a response: a client that keeps the clause ignores it.
func unrequestedType(m *moment) { m.testIf(m.s.TypeURL == "" && m.ch.requests == 0) }

func unrequestedTypeAnswered(m *moment) {
	if m.ch.requests == 0 && m.ch.responses > 0 && m.ch.byNonce[m.request.Nonce] != nil {
		m.breach(m.request.Nonce, "the client has not requested %s on this stream, and answers a response", short(m.ch.typeURL))
	}
}
