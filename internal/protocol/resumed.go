package protocol

import (
	"maps"
	"slices"
)

// returnsWithRemoved waits for the removals of what a client of Delta has from an earlier stream, and another stream of
// the node has not.
func returnsWithRemoved(m *moment) {
	if m.ch.requests > 0 || len(m.request.Known) == 0 || !m.wildcard() {
		return
	}
	known := slices.Sorted(maps.Keys(m.request.Known))
	m.wait(m.Patience, func(m *moment) bool {
		late := slices.DeleteFunc(slices.Clone(known), func(name string) bool {
			return m.ch.heard[name] > 0 || m.ch.vague > 0 || m.ch.wants(name) || !m.ch.wildcard
		})
		var at At
		m.others(func(other *channel) {
			if other.wildcard && other.responses > 0 && !other.resumed && len(other.known) == 0 && other.vague == 0 {
				late, at = slices.DeleteFunc(late, func(name string) bool { return other.held[name] != nil }), other.last.at
			}
		})
		if at.File != nil && len(late) > 0 {
			m.breachAfter(at, "another stream of the node, without it", late[0], "the client returns with %q, which is removed, and is not told for %s", late[0], m.patience())
		}
		return at.File != nil
	})
}

// returnsWithOld waits for what has changed since an earlier stream of the client, as another stream of the node shows it.
func returnsWithOld(m *moment) {
	switch {
	case m.ch.requests > 0:
	case m.s.Delta && len(m.request.Known) > 0:
		m.oldResources()
	case !m.s.Delta && !m.s.REST && m.request.Version != "":
		m.oldVersion()
	}
}

// oldResources compares the versions of resources.
func (m *moment) oldResources() {
	known, since := m.request.Known, m.events
	m.wait(m.Patience, func(m *moment) bool {
		for _, name := range slices.Sorted(maps.Keys(known)) {
			other := m.shown(name, since, m.ch)
			if other != nil && other.version != known[name] && !m.had(name, known[name], other.content) && !m.ch.told(name, since) && m.ch.subscribed(name) {
				m.breachAfter(other.at, "what another stream of the node was sent", name, "the client returns with version %q of %q, and is not sent the newer one for %s", known[name], name, m.patience())
				return true
			}
		}
		return false
	})
}

// had reports whether a stream of the node was sent a content with a version. A server may have a version for the type, and so
// more than one for a content.
func (m *moment) had(name, version string, content uint64) bool {
	for ch := range m.sameNode() {
		if h := ch.held[name]; h != nil && h.version == version && h.content == content {
			return true
		}
	}
	return false
}

// oldVersion compares that of the type with the one of another stream with the same subscription.
func (m *moment) oldVersion() {
	version, since := m.request.Version, m.events
	m.wait(m.Patience, func(m *moment) bool {
		if m.ch.responses > 0 {
			return true
		}
		for ch := range m.sameNode() {
			same := ch.wildcard == m.ch.wildcard && maps.EqualFunc(ch.asked, m.ch.asked, func(_, _ *interest) bool { return true })
			if same && ch != m.ch && ch.last != nil && ch.last.event > since && ch.last.version != version {
				m.breachAfter(ch.last.at, "what another stream of the node was sent", version, "the client returns with version %q, and is not sent the newer one for %s", version, m.patience())
				return true
			}
		}
		return false
	})
}
