package protocol

import "slices"

// names are the clauses about the names that a client has subscribed to.
func names() []*Clause {
	return []*Clause{
		{
			Name: "duplicate-name", Level: Must,
			Breach:     "a response has two resources with the same name",
			Says:       "A response has each name once.",
			Effect:     "Clients reject such a response (NACK). Envoy does so for clusters and listeners, and in Delta for all types. Over SotW, Envoy 1.40 uses the clusters of the rejected response all the same.",
			Section:    "#duplicate-resource-names",
			onResponse: duplicateName,
		},
		{
			Name: "removed-and-sent", Level: Must,
			Breach:     "a response of Delta sends and removes the same name",
			Says:       "A name is either in `resources` or in `removed_resources`.",
			Effect:     "Envoy rejects the response (NACK).",
			Section:    "#duplicate-resource-names",
			onResponse: removedAndSent,
		},
		{
			Name: "removed-unknown", Level: Advice,
			Breach:     "a response of Delta removes a name that the client does not know",
			Says:       "`removed_resources` has names that the client was sent, or has subscribed to.",
			Effect:     "Envoy and gRPC ignore the name. The server's record of what the client has is wrong.",
			Harmless:   "the client does not have the resource.",
			Section:    "#deleting-resources",
			onResponse: removedUnknown,
		},
		{
			Name: "resource-unrequested", Level: Advice,
			Breach:     "a resource is sent that the client has not subscribed to",
			Says:       "Without a wildcard subscription, a client gets the resources that it has named. It ignores all others.",
			Effect:     "Envoy and gRPC ignore the resource. If the client subscribes to it later, the server must send it again.",
			Section:    "#how-the-client-specifies-what-resources-to-return",
			onResponse: resourceUnrequested,
		},
		{
			Name: "unsubscribed-sent", Level: Should,
			Breach:     "a resource is sent although the server knows that the client has unsubscribed",
			Says:       "When a client unsubscribes from a name, the server stops sending the resource.",
			Effect:     "Envoy and gRPC ignore the resource. The server sends every change of it to clients that do not use it.",
			Harmless:   "the client does not use the resource.",
			Section:    "#unsubscribing-from-resources",
			onResponse: unsubscribedSent,
		},
		{
			Name: "empty-list-as-wildcard", Level: Must,
			Breach:     "a client unsubscribes from its last name, and gets all resources",
			Says:       "Once a client has subscribed to a name, an empty list of names means that it wants nothing. Only a client that has never named anything subscribes to all with it.",
			Effect:     "The client ignores the resources. In SotW they look like the complete state, and the server takes the client to have all. Envoy 1.40 answers endpoints that it does not want with the version that it had before: that looks like a NACK.",
			Section:    "#how-the-client-specifies-what-resources-to-return",
			onRequest:  lastNameDropped,
			onResponse: emptyListAsWildcard,
		},
	}
}

func duplicateName(m *moment) {
	m.testIf(len(m.response.Resources) > 0)
	type named struct{ typeURL, name string }
	seen := make(map[named]bool, len(m.response.Resources))
	for i := range m.response.Resources {
		r := &m.response.Resources[i]
		key := named{r.TypeURL, r.Name}
		if r.Name != "" && seen[key] {
			m.breach(r.Name, "the response has %q twice", r.Name)
			return
		}
		seen[key] = true
	}
}

func removedAndSent(m *moment) {
	m.testIf(m.s.Delta)
	sent := make(map[string]bool, len(m.response.Resources))
	for i := range m.response.Resources {
		sent[m.response.Resources[i].Name] = true
	}
	for _, name := range m.response.Removed {
		if name != "" && sent[name] {
			m.breach(name, "the response sends %q and removes it", name)
			return
		}
	}
}

func removedUnknown(m *moment) {
	ch := m.ch
	m.testIf(len(m.response.Removed) > 0)
	for _, name := range m.response.removed() {
		_, dropped := ch.dropped[name]
		_, known := ch.known[name]
		// The name of a resource that was sent without one can be any.
		if name != "" && ch.requests > 0 && ch.heard[name] == 0 && ch.vague == 0 && !ch.wants(name) && !dropped && !known {
			m.breach(name, "the response removes %q, which the client was not sent and has not subscribed to", name)
			return
		}
	}
}

// listed reports whether the client must have named what it gets. Virtual hosts have aliases that a client makes up.
func (ch *channel) listed() bool {
	return !ch.wildcard && ch.requests > 0 && ch.typeURL != virtualHosts
}

// never reports whether the client has not named a resource on the stream, by any of its names.
func (ch *channel) never(r *Resource) bool {
	for _, name := range r.names() {
		if _, dropped := ch.dropped[name]; ch.wants(name) || dropped {
			return false
		}
	}
	return r.Name != ""
}

// exceeds reports whether a response has something that the client has not named.
func (ch *channel) exceeds(p *Response) bool {
	return slices.ContainsFunc(p.Resources, func(r Resource) bool { return ch.never(&r) })
}

func resourceUnrequested(m *moment) {
	if !m.ch.listed() || m.ch.wild || m.ch.widened || len(m.ch.asked) == 0 {
		return
	}
	m.testIf(len(m.response.Resources) > 0)
	for i := range m.response.Resources {
		if r := &m.response.Resources[i]; m.ch.never(r) {
			m.breach(r.Name, "the client has not subscribed to %q", r.Name)
			return
		}
	}
}

// lastNameDropped notes that a client unsubscribes from its last name: a server that keeps the clause sends nothing.
func lastNameDropped(m *moment) {
	q, ch := m.request, m.ch
	if !ch.listed() || ch.wild || len(ch.asked) == 0 || len(q.Names) > 0 {
		return
	}
	left := 0
	for name := range ch.asked {
		if m.s.Delta && !slices.Contains(q.Unsubscribe, name) {
			left++
		}
	}
	m.testIf(left == 0)
}

func emptyListAsWildcard(m *moment) {
	ch := m.ch
	if !ch.listed() || !ch.narrow() || len(ch.asked) > 0 || ch.unrequested {
		return
	}
	for i := range m.response.Resources {
		if r := &m.response.Resources[i]; ch.never(r) {
			ch.widened = true
			m.breach(r.Name, "the client has unsubscribed from all names, and gets %q", r.Name)
			return
		}
	}
}

// left reports whether the server knows that the client has left the wildcard: it has answered a later request.
func (ch *channel) left() bool {
	at, dropped := ch.dropped["*"]
	return dropped && at.request < ch.served
}

// narrow reports whether the client has never had the wildcard, or has left it and the server has followed.
func (ch *channel) narrow() bool { return !ch.wild || ch.left() && !ch.clings }

func unsubscribedSent(m *moment) {
	named := !m.ch.wild || m.ch.narrow() && len(m.ch.asked) == 0
	if !m.ch.listed() || m.ch.unrequested || named && m.ch.exceeds(m.response) {
		return // other clauses are about that
	}
	m.testIf(len(m.ch.dropped) > 0)
	for i := range m.response.Resources {
		r := &m.response.Resources[i]
		from := r.Name
		if m.ch.never(r) {
			from = "*"
		}
		at, dropped := m.ch.dropped[from]
		switch {
		case !dropped || m.ch.wants(r.Name):
		case at.request < m.ch.served:
			m.breach(r.Name, "the client has unsubscribed from %q, and the server has answered a later request", from)
			return
		case m.event.Time.Sub(at.time) > m.Patience:
			m.breach(r.Name, "the client has unsubscribed from %q, %s before", from, m.patience())
			return
		}
	}
}
