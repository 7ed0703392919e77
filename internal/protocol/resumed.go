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

// oldResources compares resources with what the client has of them: what a stream of the node was sent with their versions.
func (m *moment) oldResources() {
	since, before := m.events, map[string]*held{}
	for ch := range m.sameNode() {
		all := ch.has()
		for name, version := range m.request.Known {
			if h := all[name]; h != nil && h.version == version {
				before[name] = h
			}
		}
	}
	m.ch.earlier = before
	m.wait(m.Patience, func(m *moment) bool {
		for _, name := range slices.Sorted(maps.Keys(before)) {
			newer := m.shown(name, since, m.ch)
			if newer != nil && newer.differs(before[name]) && !m.ch.told(name, since) && m.ch.subscribed(name) {
				m.breachAfter(newer.at, "what another stream of the node was sent", name, "the client returns with version %q of %q, and is not sent the newer one for %s", before[name].version, name, m.patience())
				return true
			}
		}
		return false
	})
}

// oldVersion compares what a client of SotW has, as a stream with its version and its names shows it, with what another
// one is sent now. A version can also be newer because of other resources.
func (m *moment) oldVersion() {
	version, since := m.request.Version, m.events
	for ch := range m.sameNode() {
		if ch != m.ch && ch.accepted == version && (ch.last == nil || ch.last.accepted) && (!ch.resumed || ch.earlier != nil) && m.asksLike(ch) {
			m.ch.earlier = ch.has()
		}
	}
	before := maps.Clone(m.ch.earlier)
	if before == nil {
		return
	}
	m.wait(m.Patience, func(m *moment) bool {
		if m.ch.responses > 0 {
			return true
		}
		for ch := range m.sameNode() {
			same := ch.wildcard == m.ch.wildcard && maps.EqualFunc(ch.asked, m.ch.asked, func(_, _ *interest) bool { return true })
			if name := ch.news(before, since); same && name != "" {
				m.breachAfter(ch.last.at, "what another stream of the node was sent", version, "the client returns with version %q, and is not sent the newer %q for %s", version, name, m.patience())
				return true
			}
		}
		return false
	})
}

// asksLike reports whether the first request of a stream has the subscription of another one.
func (m *moment) asksLike(ch *channel) bool {
	names := slices.DeleteFunc(slices.Clone(m.request.Names), func(name string) bool { return name == "*" })
	return ch.wildcard == m.wildcard() && len(names) == len(ch.asked) && !slices.ContainsFunc(names, func(name string) bool { return ch.asked[name] == nil })
}

// has returns what the client has, also from an earlier stream.
func (ch *channel) has() map[string]*held {
	all := map[string]*held{}
	if !ch.complete() || ch.responses == 0 {
		maps.Copy(all, ch.earlier)
	}
	maps.Copy(all, ch.held)
	return all
}

// news returns the name of something that a stream was sent since an event, or lost, in comparison with what was there
// before; empty: nothing is new.
func (ch *channel) news(before map[string]*held, since int) string {
	if ch.last == nil || ch.last.event <= since {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(ch.held)) {
		if ch.heard[name] > since && (before[name] == nil || ch.held[name].differs(before[name])) {
			return name
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if ch.complete() && ch.held[name] == nil {
			return name
		}
	}
	return ""
}

// differs reports whether a resource is known to have another content than before.
func (h *held) differs(before *held) bool {
	return !h.opaque && !before.opaque && h.content != before.content
}
