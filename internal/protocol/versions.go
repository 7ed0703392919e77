package protocol

// versions are the clauses about versions.
func versions() []*Clause {
	return []*Clause{
		{
			Name: "version-missing", Level: Should,
			Breach:     "a response of SotW has no version",
			Says:       "A response of SotW has the current version of its type.",
			Effect:     "The ACK has an empty version, like the first request of a client that has nothing. A server cannot know from it what the client uses.",
			Harmless:   "a client that returns gets all resources.",
			Section:    "#ack-nack-and-resource-type-instance-version",
			onResponse: versionMissing,
		},
		{
			Name: "version-unchanged", Level: Must,
			Breach:     "a resource of SotW changes, and the version of its type does not",
			Says:       "Whenever a resource of a type changes, the version of the type changes.",
			Effect:     "Envoy applies the response all the same. But a client that reconnects with the version gets nothing from a server that compares it, and keeps the old resource. A server that waits for the ACK of a version cannot know which content was accepted.",
			Section:    "#ack-nack-and-resource-type-instance-version",
			onResponse: versionUnchanged,
		},
		{
			Name: "resource-version-unchanged", Level: Must,
			Breach:     "a resource of Delta changes, and its version does not",
			Says:       "In Delta, each resource has a version of its own, which changes with the resource.",
			Effect:     "Envoy names the versions when it reconnects (`initial_resource_versions`). The server then takes the old content for the new one, and does not send it again.",
			Section:    "#incremental-xds",
			onResponse: resourceVersionUnchanged,
		},
		{
			Name: "resource-version-missing", Level: Should,
			Breach:     "a resource of Delta has no version",
			Says:       "In Delta, each resource has a version.",
			Effect:     "When Envoy reconnects, it cannot say which content it has, so everything is sent again.",
			Harmless:   "Envoy 1.40 returns with the names and empty versions, so it gets all resources and learns which were removed.",
			Section:    "https://github.com/envoyproxy/envoy/blob/main/api/envoy/service/discovery/v3/discovery.proto",
			onResponse: resourceVersionMissing,
		},
		{
			Name: "resource-unnamed", Level: Must,
			Breach:     "a resource of Delta has no name",
			Says:       "In Delta, each resource has its name next to its content, since `removed_resources` and subscriptions are about names.",
			Effect:     "A client that finds resources by this name does not find it, and the server cannot remove it.",
			Section:    "#resource-names",
			onResponse: resourceUnnamed,
		},
	}
}

func versionMissing(m *moment) {
	m.testIf(!m.s.Delta)
	if !m.s.Delta && m.response.Version == "" {
		m.breach("", "the response has no version_info")
	}
}

func versionUnchanged(m *moment) {
	if !m.s.Delta && m.response.Version != "" {
		m.changed(func(r *Resource) string { return m.response.Version })
	}
}

func resourceVersionUnchanged(m *moment) {
	if m.s.Delta {
		m.changed(func(r *Resource) string { return r.Version })
	}
}

// changed reports the first resource that was sent with the same version and another content.
func (m *moment) changed(version func(*Resource) string) {
	for i := range m.response.Resources {
		r := &m.response.Resources[i]
		h := m.ch.held[r.Name]
		if h == nil || r.Opaque || r.empty() || h.opaque || r.Content == h.content {
			continue
		}
		m.test()
		if v := version(r); v != "" && v == h.version {
			m.breachAfter(h.at, "the content before", r.Name, "%q changes, and the version is %q as before", r.Name, v)
			return
		}
	}
}

func resourceVersionMissing(m *moment) {
	m.testIf(m.s.Delta && len(m.response.Resources) > 0)
	for i := range m.response.Resources {
		if r := &m.response.Resources[i]; m.s.Delta && r.Version == "" && r.Name != "" && !r.Unresolved {
			m.breach(r.Name, "%q has no version", r.Name)
			return
		}
	}
}

func resourceUnnamed(m *moment) {
	m.testIf(m.s.Delta && len(m.response.Resources) > 0)
	for i := range m.response.Resources {
		if r := &m.response.Resources[i]; m.s.Delta && r.Name == "" {
			m.breach("", "a resource in the response has no name")
			return
		}
	}
}
