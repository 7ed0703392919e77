package protocol

import "strings"

// onDemand are the clauses about virtual hosts that a client asks for when a request needs them (VHDS). Their names are
// ROUTE/HOST: the route configuration, and what the request has as its host.
func onDemand() []*Clause {
	return []*Clause{
		{
			Name: "virtual-host-removed", Level: Must,
			Breach:     "a virtual host that does not exist is answered in removed_resources",
			Says:       "If no virtual host exists for a name that a client has subscribed to, the server sends a resource without content that has the name in `aliases`.",
			Effect:     "Envoy holds the request until a resource with the name comes, and `removed_resources` does not end that: the request waits until a timeout, instead of being answered with 404.",
			Section:    vhds,
			onResponse: virtualHostRemoved,
		},
		{
			Name: "virtual-host-misnamed", Level: Must,
			Breach:     "a virtual host has a name that is not below its route configuration",
			Says:       "The name of a virtual host is that of its route configuration, a slash, and a name: `ROUTE/HOST`. What a client has subscribed to can also be in `aliases`.",
			Effect:     "Envoy finds the route configuration by the name, whatever the aliases are. It ignores the virtual host, and the request that needs it waits until a timeout.",
			Section:    vhds,
			onResponse: virtualHostMisnamed,
		},
		{
			Name: "virtual-host-over-sotw", Level: Must, Client: true,
			Breach:    "a client requests virtual hosts over SotW",
			Says:      "Virtual hosts are only served over Delta.",
			Effect:    "SotW has no aliases, so a server cannot answer. Envoy rejects a route configuration with such a source.",
			Section:   "#rpc-services-and-methods-for-each-variant",
			onRequest: virtualHostOverSotW,
		},
	}
}

const vhds = "https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_conn_man/vhds"

// routeOf returns the route configuration in the name of a virtual host.
func routeOf(name string) string { return name[:max(0, strings.LastIndexByte(name, '/'))] }

func virtualHostRemoved(m *moment) {
	if m.ch.typeURL != virtualHosts {
		return
	}
	for i := range m.response.Resources {
		m.testIf(m.response.Resources[i].Unresolved)
	}
	for _, name := range m.response.removed() {
		asked := m.ch.asked[name]
		// What a client has from an earlier stream may have an alias that is not known here.
		if asked != nil && m.ch.heard[name] == 0 && (asked.request > 1 || len(m.ch.known) == 0) {
			m.breachAfter(asked.at, "the subscription", name, "the client waits for %q, and the response removes it", name)
			return
		}
	}
}

func virtualHostMisnamed(m *moment) {
	if m.ch.typeURL != virtualHosts {
		return
	}
	for i := range m.response.Resources {
		r := &m.response.Resources[i]
		if r.Name == "" || strings.HasPrefix(r.Name, xdstp) {
			continue
		}
		m.test()
		if routeOf(r.Name) == "" {
			m.breach(r.Name, "%q is not below the name of a route configuration", r.Name)
			return
		}
		for _, alias := range r.Aliases {
			if asked := m.ch.asked[alias]; asked != nil && routeOf(alias) != routeOf(r.Name) {
				m.breachAfter(asked.at, "the subscription", r.Name, "the client has subscribed to %q, and %q is of another route configuration", alias, r.Name)
				return
			}
		}
	}
}

func virtualHostOverSotW(m *moment) {
	m.testIf(m.ch.typeURL == virtualHosts)
	if m.ch.typeURL == virtualHosts && !m.s.Delta {
		m.breach("", "the client requests virtual hosts, and the stream is not of Delta")
	}
}
