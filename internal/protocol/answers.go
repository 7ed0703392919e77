package protocol

// answers are the clauses about ACKs and NACKs.
func answers() []*Clause {
	return []*Clause{
		{
			Name: "ack-version", Level: Must, Client: true,
			Breach:    "an ACK has another version than the response",
			Says:      "An ACK in SotW has the version of the response that it accepts. A NACK has an `error_detail`.",
			Effect:    "A server that compares versions takes the request for a NACK, and one that looks for `error_detail` for an ACK. They disagree about what the client uses.",
			Section:   "#ack-and-nack-semantics-summary",
			onRequest: ackVersion,
		},
		{
			Name: "nack-version", Level: Should, Client: true,
			Breach:    "a NACK has the version that it rejects",
			Says:      "A NACK in SotW has the version that the client uses, which is that of the last response that it accepted.",
			Effect:    "A server that compares versions takes the NACK for an ACK: it reports a rejected configuration as applied.",
			Section:   "#nack",
			onRequest: nackVersion,
		},
		{
			Name: "nack-without-reason", Level: Advice, Client: true,
			Breach:    "a NACK does not say why",
			Says:      "The `error_detail` of a NACK has the reason in its message.",
			Effect:    "Envoy and gRPC always give a reason. Without one, only the log of the client shows what is wrong.",
			Section:   "#nack",
			onRequest: nackWithoutReason,
		},
		{
			Name: "answer-skipped", Level: Should, Client: true,
			Breach:    "a client answers a response, and not the one before it",
			Says:      "A client ACKs or NACKs every response.",
			Effect:    "A server that waits for the answer before it sends more, or that counts what each client has, waits for ever or counts wrongly.",
			Section:   "#ack-and-nack-semantics-summary",
			onRequest: answerSkipped,
		},
		{
			Name: "answer-missing", Level: Should, Client: true,
			Breach:     "a client does not answer a response",
			Says:       "A client ACKs or NACKs every response. Envoy can take 15 seconds, while it waits for resources that others need.",
			Effect:     "A server that waits for the answer before it sends more stays silent.",
			Section:    "#ack-and-nack-semantics-summary",
			onResponse: answerMissing,
		},
	}
}

func ackVersion(m *moment) {
	r, q := m.ch.answers(m.request), m.request
	if m.s.Delta || r == nil || q.Error != nil {
		return
	}
	m.test()
	if q.Version != r.version {
		m.breachAfter(r.at, "the response", q.Version, "the ACK has version %q, and the response has %q", q.Version, r.version)
	}
}

func nackVersion(m *moment) {
	r, q := m.ch.answers(m.request), m.request
	if m.s.Delta || r == nil || q.Error == nil || r.version == m.ch.accepted {
		return
	}
	m.test()
	if q.Version == r.version {
		m.breachAfter(r.at, "the response", q.Version, "the NACK has version %q, which it rejects; the client uses %q", q.Version, m.ch.accepted)
	}
}

func nackWithoutReason(m *moment) {
	m.testIf(m.request.Error != nil)
	if m.request.Error != nil && m.request.Error.Message == "" {
		m.breach("error_detail", "the error_detail has no message")
	}
}

func answerSkipped(m *moment) {
	now := m.ch.answers(m.request)
	if now == nil {
		return
	}
	if now.number < 2 {
		return
	}
	m.test()
	if r := m.ch.replies[now.number-2]; !r.answered && !r.skipped {
		r.skipped = true
		m.breachAfter(r.at, "the response without an answer", m.request.Nonce, "the client answers a response, and has not answered the one before it")
	}
}

// Slowness is how many times as long a client has to answer as a server. Envoy answers late while it warms clusters up,
// for at most 15 s.
const Slowness = 2

func answerMissing(m *moment) {
	if m.response.Nonce == "" || m.ch.requests == 0 || m.s.REST {
		return // there is nothing to answer it with
	}
	ch, number := m.ch, m.ch.responses+1
	m.wait(Slowness*m.Patience, func(m *moment) bool {
		if r := ch.replies[number-1]; !r.answered && !r.skipped {
			r.skipped = !m.trial
			m.breach("", "the client has not answered this response for %s", seconds(Slowness*m.Patience))
		}
		return true
	})
}
