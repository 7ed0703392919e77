package protocol

// nonces are the clauses about nonces.
func nonces() []*Clause {
	return []*Clause{
		{
			Name: "nonce-missing", Level: Must,
			Breach:     "a response has no nonce",
			Says:       "Each response of a stream has a nonce. Requests repeat it, so that the server knows which response they answer.",
			Effect:     "Without it, an ACK looks like a request that was sent before the response. The server takes the next change of a subscription for an ACK, or an ACK for a change.",
			Section:    "#basic-protocol-overview",
			onResponse: nonceMissing,
		},
		{
			Name: "nonce-reused", Level: Must,
			Breach:     "two responses have the same nonce",
			Says:       "The nonce of a response is different from those of all earlier responses of its type on the stream.",
			Effect:     "Envoy and gRPC repeat the nonce of the last response. If two responses have the same, the server cannot know which one was accepted: a NACK of the second looks like one of the first.",
			Section:    "#ack-nack-and-resource-type-instance-version",
			onResponse: nonceReused,
		},
		{
			Name: "nonce-on-first-request", Level: Must, Client: true,
			Breach:    "the first request for a type has a nonce",
			Says:      "A nonce is valid only on the stream on which it was sent. The first request for a type on a stream does not have one.",
			Effect:    "A server takes the request for the answer to a response that it never sent, and may ignore it as stale. The client then waits for resources that never come.",
			Section:   "#basic-protocol-overview",
			onRequest: nonceOnFirst,
		},
		{
			Name: "nonce-unknown", Level: Must, Client: true,
			Breach:    "a request has a nonce that the server did not send",
			Says:      "A request repeats the nonce of a response of its type on its stream.",
			Effect:    "A server takes the request for stale and may ignore it, with the names in it.",
			Section:   "#basic-protocol-overview",
			onRequest: nonceUnknown,
		},
		{
			Name: "nonce-forgotten", Level: Must, Client: true,
			Breach:    "a request of SotW lacks the nonce although the client has answered a response",
			Says:      "In SotW, every request after the first response repeats the most recent nonce that the client received for the type.",
			Effect:    "Without a nonce, the request looks like the first one for the type. A server may answer it with all resources again, or take the client for one that has lost its state.",
			Section:   "#basic-protocol-overview",
			onRequest: nonceForgotten,
		},
		{
			Name: "nonce-older", Level: Must, Client: true,
			Breach:    "a request has an older nonce than one before it",
			Says:      "In SotW, requests repeat the most recent nonce that the client received for the type: never an older one than before.",
			Effect:    "A server does not answer a request with a stale nonce, so the names in it are lost.",
			Section:   "#resource-updates",
			onRequest: nonceOlder,
		},
		{
			Name: "nonce-without-answer", Level: Must, Client: true,
			Breach:    "a request of Delta that answers nothing has a nonce",
			Says:      "In Delta, only the answer to a response has a nonce. A request that changes the subscription by itself does not have one.",
			Effect:    "A server counts the request as a second ACK of the same response.",
			Section:   "#incremental-xds",
			onRequest: nonceWithoutAnswer,
		},
	}
}

func nonceMissing(m *moment) {
	m.testIf(!m.s.REST)
	if m.response.Nonce == "" && !m.s.REST {
		m.breach("", "the response has no nonce")
	}
}

func nonceReused(m *moment) {
	nonce := m.response.Nonce
	m.testIf(len(m.ch.byNonce) > 0)
	if before := m.ch.byNonce[nonce]; before != nil {
		m.breachAfter(before.at, "the first response with it", nonce, "nonce %q was used before", nonce)
	}
}

func nonceOnFirst(m *moment) {
	m.testIf(m.ch.requests == 0 && m.ch.responses == 0)
	if m.ch.requests == 0 && m.ch.responses == 0 && m.request.Nonce != "" {
		m.breach(m.request.Nonce, "the first request for the type on this stream has the nonce %q", m.request.Nonce)
	}
}

func nonceUnknown(m *moment) {
	nonce := m.request.Nonce
	m.testIf(m.ch.requests > 0 && nonce != "")
	if m.ch.requests+m.ch.responses > 0 && nonce != "" && m.ch.byNonce[nonce] == nil {
		m.breach(nonce, "no response of this type has the nonce %q on this stream", nonce)
	}
}

func nonceForgotten(m *moment) {
	m.testIf(!m.s.Delta && m.ch.lastAnswer != nil && !m.ch.nonceless)
	if before := m.ch.lastAnswer; !m.s.Delta && m.request.Nonce == "" && before != nil && !m.ch.nonceless {
		m.breachAfter(before.at, "the last response that the client has answered", "", "the request has no nonce, and the client has answered a response before")
	}
}

func nonceOlder(m *moment) {
	before, now := m.ch.lastAnswer, m.ch.byNonce[m.request.Nonce]
	m.testIf(!m.s.Delta && before != nil && now != nil)
	if !m.s.Delta && before != nil && now != nil && now.number < before.number {
		m.breachAfter(before.at, "a newer response, which the client has answered", m.request.Nonce, "nonce %q is older than one in an earlier request", m.request.Nonce)
	}
}

func nonceWithoutAnswer(m *moment) {
	m.testIf(m.s.Delta && m.ch.responses > 0)
	if before := m.ch.byNonce[m.request.Nonce]; m.s.Delta && before != nil && before.answered {
		m.breachAfter(before.at, "the response, which the client has answered before", m.request.Nonce, "the request has the nonce %q of a response that is already answered", m.request.Nonce)
	}
}
