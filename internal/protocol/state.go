package protocol

import (
	"fmt"
	"maps"
	"slices"
)

// state are the clauses about complete responses, and those that delete.
func state() []*Clause {
	return []*Clause{
		{
			Name: "state-incomplete", Level: Must,
			Breach:     "a response of SotW lacks listeners or clusters that exist, such as all but those that were newly requested",
			Says:       "A response of SotW for listeners or clusters has all those that the client needs, even if they have not changed. What it lacks is deleted.",
			Effect:     "Envoy and gRPC delete the resources that the response lacks, and traffic to them fails.",
			Section:    "#grouping-resources-into-responses",
			onResponse: stateIncomplete,
		},
		{
			Name: "state-partial", Level: Advice,
			Breach:     "a response of SotW has only the listeners or clusters that have changed",
			Says:       "A response of SotW for listeners or clusters has all those that the client needs, even if they have not changed. What it lacks is deleted.",
			Effect:     "Envoy drains the listener or removes the cluster, and requests fail until it is back. If the others were really removed for a while, all is well.",
			Section:    "#grouping-resources-into-responses",
			onResponse: statePartial,
		},
		{
			Name: "empty-deletes-nothing", Level: Advice,
			Breach:     "an empty response of SotW is for a type in which it deletes nothing",
			Says:       "In SotW, an empty response deletes resources only of listeners and clusters. For other types it has no effect: a resource is deleted when nothing refers to it.",
			Effect:     "Envoy and gRPC keep the resources.",
			Section:    "#deleting-resources",
			onResponse: emptyDeletesNothing,
		},
	}
}

// returned returns a resource that the last response lacked and this one has again, unchanged.
func (m *moment) returned() *Resource {
	if !m.ch.complete() || len(m.ch.missing) == 0 {
		return nil
	}
	for i := range m.response.Resources {
		r := &m.response.Resources[i]
		if h := m.ch.missing[r.Name]; h != nil && !h.opaque && !r.Opaque && h.content == r.Content && m.ch.subscribed(r.Name) {
			return r
		}
	}
	return nil
}

func stateIncomplete(m *moment) {
	m.testIf(m.ch.complete() && len(m.ch.held) > 0)
	if r := m.returned(); r != nil && m.ch.last.onlyNew {
		m.lacked(r, "the response has only what was newly requested: %q is missing, and returns unchanged in the next one")
	}
	if m.ch.onlyNew(m.response) || m.ch.partial(m.response) {
		m.lackedAlone()
	}
}

// lackedAlone waits for another stream of the node that shows what the response lacks, unchanged.
func (m *moment) lackedAlone() {
	lost, since := map[string]*held{}, m.events
	for _, name := range m.ch.lacks(m.response) {
		if h := m.ch.held[name]; m.ch.kept(name) && !h.opaque {
			lost[name] = h
		}
	}
	if len(lost) == 0 {
		return
	}
	m.wait(m.Patience, func(m *moment) bool {
		for _, name := range slices.Sorted(maps.Keys(lost)) {
			other := m.shown(name, since, m.ch)
			if other != nil && other.content == lost[name].content && !m.ch.told(name, since) && m.ch.subscribed(name) {
				m.breachAfter(other.at, "what another stream of the node was sent after it", name, "the response lacks %q, which exists and has not changed", name)
				return true
			}
		}
		return false
	})
}

func statePartial(m *moment) {
	m.testIf(m.ch.complete() && len(m.ch.held) > 0)
	if r := m.returned(); r != nil && m.ch.last.partial && !m.ch.last.onlyNew {
		m.lacked(r, "the response has only what has changed: %q is missing, and returns unchanged in the next one")
	}
}

// lacked reports the response before this one.
func (m *moment) lacked(r *Resource, format string) {
	m.report(m.ch, Finding{
		Clause: m.clause, At: m.ch.last.at, Message: fmt.Sprintf(format, r.Name), Related: []Related{{m.event.At, "the next response"}},
	})
}

func emptyDeletesNothing(m *moment) {
	if m.s.Delta || m.ch.complete() {
		return
	}
	m.testIf(len(m.ch.held) > 0)
	if len(m.response.Resources) > 0 {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(m.ch.held)) {
		if m.ch.subscribed(name) {
			m.breachAfter(m.ch.held[name].at, "the last response with it", "", "the response is empty, and does not delete %q", name)
			return
		}
	}
}
