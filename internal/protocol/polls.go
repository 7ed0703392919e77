package protocol

// polls are the clauses about REST: a client sends requests again and again.
func polls() []*Clause {
	return []*Clause{
		{
			Name: "poll-answered-unchanged", Level: Should,
			Breach:     "polls in quick succession are answered with what the client has",
			Says:       "If a client polls with a small delay, a server answers only when resources have changed. Until then it keeps the request, or answers with status 304.",
			Effect:     "Envoy reads and checks all resources again with each answer.",
			Harmless:   "the client has the content already.",
			Section:    "#rest-json-polling-subscriptions",
			onResponse: pollAnsweredUnchanged,
		},
		{
			Name: "poll-overlapping", Level: Should, Client: true,
			Breach:    "a client polls again before it has the answer",
			Says:      "A client that polls has a single request under way at any time, so nonces are not needed.",
			Effect:    "The server cannot know which answer the client has seen last.",
			Section:   "#rest-json-polling-subscriptions",
			onRequest: pollOverlapping,
		},
	}
}

// polling is the state of a client that polls.
type polling struct {
	waiting  int    // requests without an answer
	version  string // of the last request
	repeated int    // answers in quick succession that say nothing new
}

// polled takes a request into it.
func (p *polling) polled(q *Request) {
	p.waiting++
	p.version = q.Version
}

func pollOverlapping(m *moment) {
	m.testIf(m.s.REST)
	if m.s.REST && m.ch.polling.waiting > 0 {
		m.breach("", "the client has not got the answer to its last request")
	}
}

// A client that polls a few times, or slowly, does not wait for changes.
const fewPolls = 3

func pollAnsweredUnchanged(m *moment) {
	if !m.s.REST || m.ch.polling.version == "" {
		return
	}
	m.test()
	p := &m.ch.polling
	if m.repeats != sameVersion || p.version != m.response.Version || m.event.Time.Sub(m.ch.last.time) > slowResend {
		p.repeated = 0
		return
	}
	if p.repeated++; p.repeated >= fewPolls {
		m.breachAfter(m.ch.last.at, "the response before", m.response.Version, "the client polls with version %q, and gets the same again at once", m.response.Version)
	}
}
