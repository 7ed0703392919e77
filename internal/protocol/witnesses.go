package protocol

import (
	"fmt"
	"iter"
	"slices"
)

// witnesses are the clauses that two streams of the same node show: one gets what the other does not.
func witnesses() []*Clause {
	return []*Clause{
		{
			Name: "update-not-sent", Level: Must,
			Breach:     "a resource changes, and a client that is subscribed to it does not get it",
			Says:       "A server sends a resource that has changed to all clients that are subscribed to it.",
			Effect:     "The client keeps the old resource until its stream ends: Envoy and gRPC send requests to endpoints that no longer exist. No ACK shows it.",
			Section:    "#basic-protocol-overview",
			onRequest:  returnsWithOld,
			onResponse: updateNotSent,
		},
		{
			Name: "creation-not-sent", Level: Must,
			Breach:     "a resource is created, and a client that is subscribed to it does not get it",
			Says:       "A server remembers the names that a client has subscribed to. When one of them is created later, the server sends it.",
			Effect:     "The client waits for the resource until its stream ends. Envoy answers requests for a cluster without endpoints with 503.",
			Section:    "#knowing-when-a-requested-resource-does-not-exist",
			onResponse: creationNotSent,
		},
		{
			Name: "removal-not-sent", Level: Must,
			Breach:     "a resource is removed, and a client that has it does not learn it",
			Says:       "A server says that a resource is removed: in Delta by `removed_resources`, in SotW by a response for listeners or clusters that lacks it.",
			Effect:     "The client keeps the resource until its stream ends, and in Delta also after it.",
			Section:    "#deleting-resources",
			onRequest:  returnsWithRemoved,
			onResponse: removalNotSent,
		},
		{
			Name: "new-request-unanswered", Level: Must,
			Breach:    "a client of SotW asks for a name again, and does not get the resource",
			Says:      "When a request changes the names that a client is subscribed to, the server sends those that are new, even if it has sent them before and they have not changed.",
			Effect:    "The client has dropped the resource in between. Envoy waits for it until its timeout, and a cluster is then without endpoints.",
			Section:   "#how-the-client-specifies-what-resources-to-return",
			onRequest: newRequestUnanswered,
		},
	}
}

// others calls f with the state of a type on the other open streams of the node. A client that has not answered the
// last response may be what the server waits for, so its streams are left out. So are those that poll: they get a change
// when they ask.
func (m *moment) others(f func(ch *channel)) {
	if m.s.node == "" {
		return
	}
	for _, s := range m.open {
		ch := s.channels[m.ch.typeURL]
		if s == m.s || s.REST || ch == nil || s.node != m.s.node || ch.last != nil && !ch.last.answered {
			continue
		}
		f(ch)
	}
}

// outdated reports whether another stream of the node was sent a newer content of what a client has: that is update-not-sent.
func (m *moment) outdated(ch *channel, name string) bool {
	of := *m
	of.ch = ch
	h := of.shown(name, ch.heard[name], ch)
	return h != nil && ch.held[name] != nil && h.differs(ch.held[name])
}

// existing reports whether another stream of the node than one was sent a resource since an event, and so has it.
func (m *moment) existing(name string, since int, but *channel) bool {
	return m.shown(name, since, but) != nil
}

// shown returns a resource as another stream of the node was sent it since an event, nil if none was.
func (m *moment) shown(name string, since int, but *channel) *held {
	for ch := range m.sameNode() {
		if ch != but && ch.heard[name] > since && ch.held[name] != nil {
			return ch.held[name]
		}
	}
	return nil
}

// sameNode has the state of the type on all streams of the node, also on those that have ended a short time ago.
func (m *moment) sameNode() iter.Seq[*channel] {
	return func(yield func(*channel) bool) {
		for _, s := range slices.Concat(m.open, m.recent) {
			if ch := s.channels[m.ch.typeURL]; ch != nil && s.node != "" && s.node == m.s.node && !yield(ch) {
				return
			}
		}
	}
}

// wantsToo reports whether a client wants a resource that another one was sent. What a wildcard includes is only known if
// both have one.
func (ch *channel) wantsToo(name string, from *channel) bool {
	return ch.wants(name) || ch.wildcard && from.wildcard
}

func updateNotSent(m *moment) {
	m.others(func(ch *channel) {
		m.expect(ch, func(r *Resource) bool {
			h := ch.held[r.Name]
			return h != nil && !h.opaque && h.content != r.Content
		}, func(name string) At { return ch.held[name].at }, "another stream of the node was sent a newer %s %s before, and this one was not")
	})
}

func creationNotSent(m *moment) {
	m.others(func(ch *channel) {
		m.expect(ch, func(r *Resource) bool {
			lost := ch.lost[r.Name]
			partial := lost != nil && lost.content == r.Content // it was never removed: that is state-incomplete
			return ch.held[r.Name] == nil && ch.last != nil && !ch.had(r.Name) && !(ch.heard[r.Name] > 0 && m.held(r)) && !partial
		}, func(name string) At {
			if i := ch.asked[name]; i != nil {
				return i.at
			}
			return ch.last.at
		}, "another stream of the node was sent %s %s before, and this one was not")
	})
}

// held reports whether the client has a resource of the response as it is: when another one has lost it, it was removed, and not created.
func (m *moment) held(r *Resource) bool {
	before := m.ch.held[r.Name]
	return before != nil && before.content == r.Content
}

// had reports whether a client may have a resource from an earlier stream.
func (ch *channel) had(name string) bool {
	if ch.s.Delta {
		_, known := ch.known[name]
		return known
	}
	i := ch.asked[name]
	return ch.resumed && (i == nil || i.request == 1)
}

// expect waits until another client has what the response has, of the resources that f selects.
func (m *moment) expect(ch *channel, f func(*Resource) bool, where func(name string) At, format string) {
	sent := map[string]*held{}
	var names []string
	for i := range m.response.Resources {
		r := &m.response.Resources[i]
		if r.Name != "" && !r.Opaque && !r.empty() && ch.wantsToo(r.Name, m.ch) && f(r) {
			names = append(names, r.Name)
			sent[r.Name] = ch.held[r.Name]
		}
	}
	if names == nil {
		return
	}
	since := m.events
	m.wait(m.Patience, func(m *moment) bool {
		late := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
			own, other := m.ch.held[name], ch.held[name]
			same := own == nil || other != nil && (other.opaque || own.opaque || other.content == own.content)
			return same || other != sent[name] || ch.told(name, since) || !ch.wantsToo(name, m.ch)
		})
		if len(late) > 0 && !ch.s.closed {
			m.missed(ch, where, late, format)
		}
		return !ch.s.closed || len(late) == 0
	})
}

// missed reports what another client lacks, at a place of that client.
func (m *moment) missed(ch *channel, where func(name string) At, names []string, format string) {
	what := fmt.Sprintf("%q", names[0])
	if more := len(names) - 1; more > 0 {
		what += fmt.Sprintf(" and %d more", more)
	}
	m.report(ch, Finding{
		Clause: m.clause, At: where(names[0]), Value: names[0], Message: fmt.Sprintf(format, what, m.patience()),
		Related: []Related{{m.event.At, "what the other stream was sent"}},
	})
}

// absent waits for the removals of what a first response to all does not have, and other streams have.
func (m *moment) absent() {
	ch, since := m.ch, m.events
	if ch.responses > 0 || !ch.wildcard || len(ch.asked)+len(ch.known) > 0 || ch.resumed || !ch.s.Delta && !ch.complete() {
		return
	}
	m.wait(m.Patience, func(m *moment) bool {
		m.others(func(other *channel) {
			var names []string
			for name := range other.held {
				if other.wildcard && other.asked[name] == nil && other.heard[name] < since && ch.heard[name] == 0 && ch.vague == 0 {
					names = append(names, name)
				}
			}
			slices.Sort(names)
			if len(names) > 0 {
				m.missed(other, func(name string) At { return other.held[name].at }, names, "a new stream of the node was not sent %s %s before, and this one was not told that it is removed")
			}
		})
		return false // it is not known what was removed
	})
}

func removalNotSent(m *moment) {
	m.absent()
	removed := m.response.removed()
	if m.ch.complete() && !m.ch.onlyNew(m.response) && !m.ch.partial(m.response) { // that is state-incomplete
		removed = m.ch.lacks(m.response)
	}
	removed = slices.DeleteFunc(removed, func(name string) bool { // the client wants it no longer
		_, dropped := m.ch.dropped[name]
		return dropped || !m.ch.subscribed(name)
	})
	if len(removed) == 0 {
		return
	}
	since := m.events
	m.others(func(ch *channel) {
		has := map[string]*held{}
		var names []string
		for _, name := range removed {
			if h := ch.held[name]; h != nil && ch.wantsToo(name, m.ch) && (ch.s.Delta || ch.complete()) {
				names = append(names, name)
				has[name] = h
			}
		}
		if names == nil {
			return
		}
		m.wait(m.Patience, func(m *moment) bool {
			late := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
				return ch.held[name] != has[name] || m.ch.held[name] != nil || !ch.wantsToo(name, m.ch) || m.existing(name, since, ch)
			})
			if len(late) > 0 && !ch.s.closed {
				m.missed(ch, func(name string) At { return has[name].at }, late, "another stream of the node lost %s %s before, and this one was not told")
			}
			return !ch.s.closed || len(late) == 0
		})
	})
}

// lacks returns what a complete response deletes, in the order of names.
func (ch *channel) lacks(p *Response) (names []string) {
	there := map[string]bool{}
	for i := range p.Resources {
		if p.Resources[i].Name == "" {
			return nil
		}
		there[p.Resources[i].Name] = true
	}
	for name := range ch.held {
		if !there[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func newRequestUnanswered(m *moment) {
	if m.s.Delta || m.s.REST || m.ch.wildcard { // what all includes has not been dropped
		return
	}
	for _, name := range m.request.Names {
		if _, before := m.ch.dropped[name]; !before || m.ch.heard[name] == 0 {
			continue
		}
		since, request := m.events, m.ch.requests+1
		m.wait(m.Patience, func(m *moment) bool {
			i := m.ch.asked[name]
			if i == nil || i.request != request {
				return false
			}
			if m.ch.told(name, since) {
				return true
			}
			m.others(func(ch *channel) { // it exists
				if ch.heard[name] > since && ch.held[name] != nil {
					m.breachAfter(ch.held[name].at, "what another stream of the node was sent", name, "the new request for %q is not answered for %s, and the resource exists", name, m.patience())
				}
			})
			return false
		})
	}
}
