package protocol

import (
	"maps"
	"slices"
)

// reconnects are the clauses about what a client of Delta says of an earlier stream.
func reconnects() []*Clause {
	return []*Clause{
		{
			Name: "initial-versions-late", Level: Must, Client: true,
			Breach:    "a request of Delta that is not the first for its type has initial_resource_versions",
			Says:      "Only the first request for a type on a stream says which versions the client has from an earlier stream.",
			Effect:    "A server ignores them, or takes the client to have resources that it has not.",
			Section:   "https://github.com/envoyproxy/envoy/blob/main/api/envoy/service/discovery/v3/discovery.proto",
			onRequest: initialVersionsLate,
		},
		{
			Name: "reconnect-without-names", Level: Must, Client: true,
			Breach:    "a client of Delta reconnects with a resource to which it does not subscribe",
			Says:      "After a reconnection, the server has no state of the stream before: the client names all that it is interested in, also what it has already.",
			Effect:    "The server does not send the changes of the resource. The client keeps it as it is.",
			Section:   "#incremental-xds",
			onRequest: reconnectWithoutNames,
		},
		{
			Name: "known-version-resent", Level: Advice,
			Breach:     "a client of Delta reconnects, and gets what it says that it has",
			Says:       "A client that reconnects says which versions it has (`initial_resource_versions`), so that a server does not send them again.",
			Effect:     "Envoy takes the resources as an update. When many clients reconnect at once, the server sends everything to each.",
			Harmless:   "the client replaces what it has by the same.",
			Section:    "#incremental-xds",
			onRequest:  knownVersions,
			onResponse: knownVersionResent,
		},
	}
}

func initialVersionsLate(m *moment) {
	m.testIf(m.s.Delta && m.ch.requests > 0)
	if m.ch.requests > 0 && len(m.request.Known) > 0 {
		m.breach("initial_resource_versions", "the request is not the first for its type, and has initial_resource_versions")
	}
}

func reconnectWithoutNames(m *moment) {
	q := m.request
	if m.ch.requests > 0 || len(q.Known) == 0 || m.wildcard() || m.ch.typeURL == virtualHosts {
		return
	}
	m.test()
	for _, name := range slices.Sorted(maps.Keys(q.Known)) {
		if !slices.Contains(q.Names, name) {
			m.breach(name, "the client has %q, and does not subscribe to it", name)
			return
		}
	}
}

// knownVersions notes that a client has said what it has: a server that keeps the clause sends nothing of it.
func knownVersions(m *moment) {
	m.testIf(m.ch.requests == 0 && len(m.request.Known) > 0 && m.wildcard())
}

// knownVersionResent looks at the first response to a wildcard subscription: what a client names is sent all the same.
func knownVersionResent(m *moment) {
	if !m.s.Delta || m.ch.responses > 0 {
		return
	}
	for i := range m.response.Resources {
		r := &m.response.Resources[i]
		if v, known := m.ch.known[r.Name]; known && r.Name != "" && v == r.Version && v != "" && m.ch.asked[r.Name] == nil && !r.TTL {
			m.breach(r.Name, "the client has version %q of %q already", v, r.Name)
			return
		}
	}
}
