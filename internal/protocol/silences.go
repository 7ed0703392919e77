package protocol

// silences are the clauses about answers that do not come. What a server may withhold, since the resource does not
// exist yet, is not a breach.
func silences() []*Clause {
	return []*Clause{
		{
			Name: "wildcard-unanswered", Level: Advice,
			Breach:    "a wildcard subscription is not answered",
			Says:      "A server answers the first request of a wildcard subscription, with an empty response if it has nothing. It may wait until it knows what the client needs.",
			Effect:    "Envoy does not finish its start until it has clusters and listeners, or `initial_fetch_timeout` is over (15 seconds by default). A listener that gets scoped routes warms for so long.",
			Section:   "#basic-protocol-overview",
			onRequest: wildcardUnanswered,
		},
		{
			Name: "subscription-unanswered", Level: Should,
			Breach:    "a subscription of Delta is not answered",
			Says:      "In Delta, a server answers a subscription with the resource, or with its name in `removed_resources` if it does not exist. A collection of `xdstp:` without members is answered in the same way.",
			Effect:    "The client waits until its timeout (15 seconds) before it takes the resource to be missing. In Envoy, a cluster or listener that needs it warms for so long, and so does a request for a virtual host or a cluster that comes on demand.",
			Section:   "#xds-protocol-resource-not-existed",
			onRequest: subscriptionUnanswered,
		},
		{
			Name: "resubscription-unanswered", Level: Must,
			Breach:    "a client of Delta subscribes to a name once more, and gets nothing",
			Says:      "In Delta, a server sends every resource that a request subscribes to, also if the client was subscribed already and has the newest version: the client may have forgotten it.",
			Effect:    "Envoy subscribes once more when it needs a resource again that it has dropped, such as the endpoints of a cluster that returns. It waits until its timeout, and the cluster does not have endpoints.",
			Section:   "#subscribing-to-resources",
			onRequest: resubscriptionUnanswered,
		},
		{
			Name: "unsubscription-unanswered", Level: Must,
			Breach:    "a client of Delta with a wildcard unsubscribes from a name, and does not learn whether it keeps the resource",
			Says:      "If a client of Delta has a wildcard subscription and unsubscribes from a single name, the server sends the resource if the wildcard includes it, and else removes it.",
			Effect:    "The client does not know whether the wildcard includes the resource: it keeps one that it should not have, or drops one that it needs.",
			Harmless:  "Envoy 1.40 has a wildcard and names only with clusters on demand, from which it does not unsubscribe, and gRPC does not speak Delta.",
			Section:   "#xds-protocol-unsubscribe",
			onRequest: unsubscriptionUnanswered,
		},
		{
			Name: "endpoints-not-resent", Level: Should,
			Breach:     "a cluster changes, and its endpoints are not sent again although the client asks for them",
			Says:       "While a cluster warms, the server sends its endpoints, also if they have not changed. Over SotW, Envoy asks for them with a request that has the names as before.",
			Effect:     "Envoy keeps the old cluster until the endpoints arrive or `initial_fetch_timeout` is over (15 seconds by default), and answers the response with the cluster only then. After the timeout, Envoy 1.36 to 1.40 use the endpoints that they have.",
			Section:    "#resource-warming",
			onRequest:  endpointsNotResent,
			onResponse: noteClusters,
		},
		{
			Name: "warming-without-endpoints", Level: Advice,
			Breach:     "a cluster of Delta changes, and its endpoints are not sent again",
			Says:       "While a cluster warms, the server sends its endpoints, also if they have not changed. Over Delta, Envoy is subscribed to them and does not ask, but waits all the same.",
			Effect:     "Envoy keeps the old cluster until the endpoints arrive or `initial_fetch_timeout` is over (15 seconds by default), and answers the response with the cluster only then. After the timeout, Envoy 1.36 to 1.40 use the endpoints that they have. Servers that are made with go-control-plane v0.14.0 do not send them.",
			Section:    "#resource-warming",
			onResponse: warmingWithoutEndpoints,
		},
	}
}

// told reports whether the server has sent or removed a name since an event, or may have.
func (ch *channel) told(name string, since int) bool {
	if ch.heard[name] > since || ch.vague > since {
		return true
	}
	if isCollection(name) {
		for member, at := range ch.heard {
			if at > since && collects(name, member) {
				return true
			}
		}
	}
	return false
}

func wildcardUnanswered(m *moment) {
	q, ch := m.request, m.ch
	if ch.requests > 0 || m.s.REST || !m.wildcard() || q.Version != "" || len(q.Known) > 0 {
		return
	}
	if ch.typeURL != listeners && ch.typeURL != clusters && ch.typeURL != scopedRoutes {
		return
	}
	m.wait(m.Patience, func(m *moment) bool {
		if m.ch.responses == 0 && m.ch.vague == 0 {
			m.breach("", "the subscription to all of %s is not answered for %s", short(m.ch.typeURL), m.patience())
		}
		return true
	})
}

// wildcard reports whether a first request is for all resources.
func (m *moment) wildcard() bool {
	for _, name := range m.request.Names {
		if name == "*" {
			return true
		}
	}
	return len(m.request.Names) == 0 && len(m.request.Unsubscribe) == 0
}

func subscriptionUnanswered(m *moment) {
	m.subscribed(func(name string) bool { return m.ch.held[name] == nil }, "the subscription to %q is not answered for %s")
}

func resubscriptionUnanswered(m *moment) {
	m.subscribed(func(name string) bool { return m.ch.held[name] != nil }, "the new subscription to %q is not answered for %s")
}

// subscribed waits for the names of a kind that a request of Delta subscribes to.
func (m *moment) subscribed(of func(name string) bool, format string) {
	if !m.s.Delta {
		return
	}
	for _, name := range m.request.Names {
		if _, known := m.request.Known[name]; name == "*" || known || isCollection(name) && len(m.request.Known) > 0 || !of(name) {
			continue // what a client has from an earlier stream need not be sent again
		}
		since, request := m.events, m.ch.requests+1
		m.wait(m.Patience, func(m *moment) bool {
			i := m.ch.asked[name]
			if i == nil || i.request != request {
				return false
			}
			if !m.ch.told(name, since) {
				m.breach(name, format, name, m.patience())
			}
			return true
		})
	}
}

func unsubscriptionUnanswered(m *moment) {
	if !m.s.Delta || !m.ch.wildcard {
		return
	}
	for _, name := range m.request.Unsubscribe {
		if name == "*" {
			return // what is left is subscribed to by name
		}
	}
	for _, name := range m.request.Unsubscribe {
		if m.ch.asked[name] == nil {
			continue
		}
		since := m.events
		m.wait(m.Patience, func(m *moment) bool {
			if !m.ch.wildcard || m.ch.asked[name] != nil {
				return false
			}
			if !m.ch.told(name, since) {
				m.breach(name, "the server neither sends nor removes %q, from which the client unsubscribes, for %s", name, m.patience())
			}
			return true
		})
	}
}

// warms calls f for each cluster in a response that changes, and so waits for endpoints over the same stream.
func (m *moment) warms(f func(r *Resource)) {
	if m.ch.typeURL != clusters || m.s.TypeURL != "" {
		return
	}
	for i := range m.response.Resources {
		r := &m.response.Resources[i]
		if h := m.ch.held[r.Name]; r.Endpoints != "" && h != nil && !h.opaque && !r.Opaque && h.content != r.Content {
			f(r)
		}
	}
}

// noteClusters notes which endpoints a response about clusters makes Envoy ask for again.
func noteClusters(m *moment) {
	m.warms(func(r *Resource) { m.s.channel(endpoints).warming[r.Endpoints] = m.events })
}

func warmingWithoutEndpoints(m *moment) {
	if m.s.Delta {
		m.warms(func(r *Resource) { m.warmsWith(r.Name, r.Endpoints) })
	}
}

// warmsWith waits for the endpoints of a cluster of Delta that changes. They exist, since the client has them.
func (m *moment) warmsWith(cluster, name string) {
	since, number := m.events, m.ch.responses
	eds := m.s.channel(endpoints)
	if eds.asked[name] == nil || eds.held[name] == nil {
		return
	}
	m.wait(m.Patience, func(m *moment) bool {
		r := m.ch.replies[number]
		if r.answered && !r.accepted || m.ch.held[cluster] == nil || eds.asked[name] == nil {
			return false
		}
		if !eds.told(name, since) && !m.outdated(eds, name) {
			m.breach(cluster, "the cluster %q changes, and its endpoints %q are not sent again for %s", cluster, name, m.patience())
		}
		return true
	})
}

func endpointsNotResent(m *moment) {
	ch := m.ch
	if m.s.Delta || ch.typeURL != endpoints || ch.answers(m.request) != nil || m.request.Nonce == "" || ch.byNonce[m.request.Nonce] != ch.last {
		return
	}
	for _, name := range m.request.Names {
		if ch.asked[name] == nil || len(m.request.Names) != len(ch.asked) {
			return // it asks for other names than before, which the server answers
		}
	}
	for _, name := range m.request.Names {
		changed, warming := ch.warming[name]
		if !warming || ch.told(name, changed) {
			continue
		}
		delete(ch.warming, name)
		since := m.events
		m.wait(m.Patience, func(m *moment) bool {
			if m.ch.asked[name] == nil {
				return false
			}
			if !m.ch.told(name, since) {
				m.breach(name, "the cluster of %q has changed, and its endpoints are not sent again for %s", name, m.patience())
			}
			return true
		})
	}
}
