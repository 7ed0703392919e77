package protocol

import "strings"

// judgements are the clauses about what a client accepts and what it rejects.
func judgements() []*Clause {
	return []*Clause{
		{
			Name: "duplicate-name-accepted", Level: Should, Client: true,
			Breach:    "a client accepts a response that has the same name twice",
			Says:      "Clients reject a response (NACK) that has two resources with the same name, or that sends and removes the same name.",
			Effect:    "It depends on the client which of the two it uses, and the server does not learn of its mistake.",
			Section:   "#duplicate-resource-names",
			onRequest: duplicateNameAccepted,
		},
		{
			Name: "resource-type-accepted", Level: Should, Client: true,
			Breach:    "a client accepts a response with a resource of another type",
			Says:      "All resources of a response have the type URL of the response. A client rejects a response (NACK) in which one has not.",
			Effect:    "The client cannot use the resource, and the server takes it for applied.",
			Section:   "https://github.com/envoyproxy/envoy/blob/main/api/envoy/service/discovery/v3/discovery.proto",
			onRequest: resourceTypeAccepted,
		},
		{
			Name: "nack-unnamed", Level: Advice, Client: true,
			Breach:    "a NACK does not name the resource that it is about",
			Says:      "The `error_detail` of a NACK says which resource the client rejects, if the response has several.",
			Effect:    "The operator of the control plane has to find the resource by trying. Envoy names clusters and listeners, unless they cannot be read.",
			Section:   "#nack",
			onRequest: nackUnnamed,
		},
		{
			Name: "unrequested-resource-rejected", Level: Should, Client: true,
			Breach:    "a client rejects a response because of a resource that it has not subscribed to",
			Says:      "A client ignores resources in a response to which it has not subscribed, and accepts the rest.",
			Effect:    "While a client changes its subscription, a server can send what it asked for before. The client rejects it, with the resources that it needs.",
			Section:   "#how-the-client-specifies-what-resources-to-return",
			onRequest: judges(func(o *oddities) string { return o.extra }, "the response has nothing new but %q, to which the client has not subscribed"),
		},
		{
			Name: "heartbeat-rejected", Level: Advice, Client: true,
			Breach:    "a client rejects a heartbeat",
			Says:      "A heartbeat renews the TTL of a resource that the client has. It is a Resource with a name, a version and a TTL, and without a content.",
			Effect:    "A server cannot use TTLs with this client. When the TTL of the resource ends, the client removes it.",
			Section:   "#ttl",
			onRequest: judges(func(o *oddities) string { return o.heartbeat }, "the response has nothing new, and a heartbeat of %q"),
		},
		{
			Name: "wrapped-resource-rejected", Level: Should, Client: true,
			Breach:    "a client of SotW rejects a resource in an envoy.service.discovery.v3.Resource",
			Says:      "In SotW, a resource can be in a Resource, which has its name, version and TTL.",
			Effect:    "A server cannot use TTLs and names apart from the content with this client.",
			Section:   "#ttl",
			onRequest: judges(func(o *oddities) string { return o.wrapped }, "the client has accepted %q before, and not in a Resource"),
		},
		{
			Name: "deletion-rejected", Level: Should, Client: true,
			Breach:    "a client rejects a response without resources",
			Says:      "A response without resources is valid. In SotW, it deletes all clusters or listeners; in Delta, it deletes what `removed_resources` names, which the client need not have.",
			Effect:    "The client keeps what is deleted, and the server takes its deletions for errors.",
			Section:   "#deleting-resources",
			onRequest: deletionRejected,
		},
	}
}

// oddities are what a client may stumble over in a response. Texts name the first resource, and are empty if there is none.
type oddities struct {
	duplicate string // a name that is there twice, or sent and removed
	foreign   string // the type of a resource that has not the type of the response
	extra     string // what the client has not subscribed to
	heartbeat string
	wrapped   string
	nothing   bool // it has no resources
	known     bool // but for extra, the client has accepted all of it before
}

// odd looks at a response, before it is taken into the state.
func (ch *channel) odd(p *Response) (o oddities) {
	o.nothing = len(p.Resources) == 0
	seen := make(map[string]bool, len(p.Resources))
	fresh := false
	for i := range p.Resources {
		r := &p.Resources[i]
		switch {
		case r.TypeURL != "" && p.TypeURL != "" && r.TypeURL != p.TypeURL:
			first(&o.foreign, r.TypeURL)
		case seen[r.Name] && r.Name != "":
			first(&o.duplicate, r.Name)
		case ch.listed() && !ch.wild && len(ch.asked) > 0 && ch.never(r):
			first(&o.extra, r.Name)
		case r.Unresolved || !ch.uses(r):
			fresh = true
		case r.Heartbeat:
			first(&o.heartbeat, r.Name)
		case r.Wrapped:
			first(&o.wrapped, r.Name)
		}
		seen[r.Name] = true
	}
	for _, name := range p.Removed {
		if name != "" && seen[name] {
			first(&o.duplicate, name)
		}
	}
	o.known = !fresh && !o.nothing && o.foreign == "" && o.duplicate == ""
	return o
}

func first(to *string, text string) {
	if *to == "" {
		*to = text
	}
}

// uses reports whether the client has accepted a resource as it is, on this stream.
func (ch *channel) uses(r *Resource) bool {
	h := ch.held[r.Name]
	switch {
	case h == nil || r.Name == "" || r.Opaque || h.opaque || !r.Heartbeat && r.Content != h.content:
		return false
	case r.Heartbeat && !ch.s.Delta && r.Version != ch.accepted:
		return false // to Envoy, it is a resource without content
	}
	return ch.replies[h.response-1].accepted
}

func duplicateNameAccepted(m *moment) {
	r := m.ch.answers(m.request)
	if r == nil || r.oddities.duplicate == "" {
		return
	}
	m.test()
	if m.request.Error == nil {
		m.breachAfter(r.at, "the response", m.request.Nonce, "the client accepts a response that has %q twice", r.oddities.duplicate)
	}
}

func resourceTypeAccepted(m *moment) {
	r := m.ch.answers(m.request)
	if r == nil || r.oddities.foreign == "" {
		return
	}
	m.test()
	if m.request.Error == nil {
		m.breachAfter(r.at, "the response", m.request.Nonce, "the client accepts a response for %s with a %s in it", short(m.ch.typeURL), short(r.oddities.foreign))
	}
}

func nackUnnamed(m *moment) {
	r, q := m.ch.answers(m.request), m.request
	if r == nil || r != m.ch.last || q.Error == nil || q.Error.Message == "" || r.oddities.foreign != "" || r.oddities.duplicate != "" {
		return
	}
	for i := range m.ch.content.Resources {
		if name := m.ch.content.Resources[i].Name; name == "" || strings.Contains(q.Error.Message, name) {
			m.testIf(name != "" && len(m.ch.content.Resources) > 1)
			return
		}
	}
	if len(m.ch.content.Resources) > 1 {
		m.test()
		m.breachAfter(r.at, "the response", "error_detail", "the response has %d resources, and the error_detail does not name one of them", len(m.ch.content.Resources))
	}
}

// judges returns the function of a clause about responses with one oddity, and nothing new.
func judges(oddity func(*oddities) string, format string) func(*moment) {
	return func(m *moment) {
		r := m.ch.answers(m.request)
		if r == nil || !r.oddities.known || oddity(&r.oddities) == "" {
			return
		}
		m.test()
		if m.request.Error != nil {
			m.breachAfter(r.at, "the response", "error_detail", format, oddity(&r.oddities))
		}
	}
}

func deletionRejected(m *moment) {
	r := m.ch.answers(m.request)
	if r == nil || !r.oddities.nothing {
		return
	}
	m.test()
	if m.request.Error != nil {
		m.breachAfter(r.at, "the response", "error_detail", "the response has no resources, and the client rejects it")
	}
}
