package protocol

// ttls are the clauses about resources that expire.
func ttls() []*Clause {
	return []*Clause{
		{
			Name: "heartbeat-version", Level: Must,
			Breach:     "a heartbeat has another version than the resource",
			Says:       "A heartbeat renews the TTL of a resource. It does not have a content, and its version is that of the resource as it was last sent.",
			Effect:     "With another version it is not a heartbeat but a resource without content, which the client rejects or drops.",
			Section:    "#ttl",
			onResponse: heartbeatVersion,
		},
	}
}

func heartbeatVersion(m *moment) {
	for i := range m.response.Resources {
		r := &m.response.Resources[i]
		if !r.Heartbeat || r.Name == "" {
			continue
		}
		m.test()
		switch h := m.ch.held[r.Name]; {
		case h == nil:
			m.breach(r.Name, "%q gets a heartbeat, and was not sent before on this stream", r.Name)
		case h.own != r.Version:
			m.breachAfter(h.at, "the resource", r.Version, "the heartbeat of %q has version %q, and the resource has %q", r.Name, r.Version, h.own)
		}
	}
}
