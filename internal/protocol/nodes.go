package protocol

// nodes are the clauses about the node of a client.
func nodes() []*Clause {
	return []*Clause{
		{
			Name: "node-missing", Level: Must, Client: true,
			Breach:    "the first request on a stream has no node",
			Says:      "The first request on a stream has the node of the client. Later ones may leave it out.",
			Effect:    "A server does not know what the client needs. Most end the stream, or send nothing.",
			Section:   "#basic-protocol-overview",
			onRequest: nodeMissing,
		},
		{
			Name: "node-changed", Level: Should, Client: true,
			Breach:    "the node changes on a stream",
			Says:      "If several requests on a stream have a node, it is always the same. A server looks only at the first.",
			Effect:    "The change has no effect until the client reconnects.",
			Section:   "#basic-protocol-overview",
			onRequest: nodeChanged,
		},
	}
}

func nodeMissing(m *moment) {
	m.testIf(m.s.requests == 0)
	if m.s.requests == 0 && m.request.Node == "" {
		m.breach("", "the first request on the stream has no node")
	}
}

func nodeChanged(m *moment) {
	m.testIf(m.s.requests > 0)
	if m.s.node != "" && m.request.Node != "" && m.request.Node != m.s.node {
		m.breach("node", "the node is not that of the first request")
	}
}
