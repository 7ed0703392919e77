package protocol

// types are the clauses about type URLs.
func types() []*Clause {
	return []*Clause{
		{
			Name: "request-type-missing", Level: Must, Client: true,
			Breach:    "a request on an aggregated stream has no type URL",
			Says:      "Each request of an aggregated stream has a type URL. Only a stream for one type can leave it out.",
			Effect:    "The server does not know what the client asks for. go-control-plane ends the stream.",
			Section:   "#aggregated-discovery-service",
			onRequest: requestTypeMissing,
		},
		{
			Name: "request-type-differs", Level: Must, Client: true,
			Breach:    "a request has a type URL that is not that of its stream",
			Says:      "On a stream for one type, such as that of ClusterDiscoveryService, the type URL of a request is that type or empty.",
			Effect:    "A server that trusts the type URL sends resources of the other type, which the client rejects.",
			Section:   "#rpc-services-and-methods-for-each-variant",
			onRequest: requestTypeDiffers,
		},
		{
			Name: "response-type-missing", Level: Must,
			Breach:     "a response has no type URL",
			Says:       "Each response has the type URL of its resources, also on a stream for one type.",
			Effect:     "Envoy and gRPC find the subscription by the type URL. Without it they ignore the response and do not answer it, so the client waits until its timeout.",
			Section:    "#aggregated-discovery-service",
			onResponse: responseTypeMissing,
		},
		{
			Name: "response-type-differs", Level: Must,
			Breach:     "a response has a type URL that is not that of its stream",
			Says:       "On a stream for one type, such as that of ClusterDiscoveryService, responses are of that type.",
			Effect:     "Envoy does not have a subscription for the other type on this stream. It ignores the response and does not answer it.",
			Section:    "#rpc-services-and-methods-for-each-variant",
			onResponse: responseTypeDiffers,
		},
		{
			Name: "resource-type-differs", Level: Must,
			Breach:     "a resource has another type than its response",
			Says:       "All resources of a response have the type URL of the response.",
			Effect:     "Envoy rejects the whole response (NACK), with all the resources that are right.",
			Section:    "https://github.com/envoyproxy/envoy/blob/main/api/envoy/service/discovery/v3/discovery.proto",
			onResponse: resourceTypeDiffers,
		},
		{
			Name: "response-unrequested", Level: Should,
			Breach:     "a response is of a type that the client has not requested on the stream",
			Says:       "A server sends responses only for types that the client has requested on the stream.",
			Effect:     "Envoy and gRPC ignore the response and do not answer it. A server that waits for the ACK waits for ever. In SotW, the first request of Envoy 1.40 for the type then has the nonce of the response, and looks like its ACK.",
			Section:    "#basic-protocol-overview",
			onResponse: responseUnrequested,
		},
	}
}

func requestTypeMissing(m *moment) {
	m.testIf(m.s.TypeURL == "")
	if m.s.TypeURL == "" && m.request.TypeURL == "" {
		m.breach("", "the request has no type_url")
	}
}

func requestTypeDiffers(m *moment) {
	m.testIf(m.s.TypeURL != "")
	if url := m.request.TypeURL; m.s.TypeURL != "" && url != "" && url != m.s.TypeURL {
		m.breach(url, "the stream is for %s, and the request for %s", short(m.s.TypeURL), short(url))
	}
}

func responseTypeMissing(m *moment) {
	m.test()
	if m.response.TypeURL == "" {
		m.breach("", "the response has no type_url")
	}
}

func responseTypeDiffers(m *moment) {
	m.testIf(m.s.TypeURL != "")
	if url := m.response.TypeURL; m.s.TypeURL != "" && url != "" && url != m.s.TypeURL {
		m.breach(url, "the stream is for %s, and the response has %s", short(m.s.TypeURL), short(url))
	}
}

func resourceTypeDiffers(m *moment) {
	if m.s.TypeURL != "" && m.response.TypeURL != m.s.TypeURL {
		return // response-type-differs
	}
	m.testIf(len(m.response.Resources) > 0)
	for i := range m.response.Resources {
		r := &m.response.Resources[i]
		if r.TypeURL != "" && m.response.TypeURL != "" && r.TypeURL != m.response.TypeURL {
			m.breach(r.TypeURL, "the response is for %s, and a resource in it is a %s", short(m.response.TypeURL), short(r.TypeURL))
			return
		}
	}
}

func responseUnrequested(m *moment) {
	m.testIf(m.s.TypeURL == "")
	if m.s.TypeURL == "" && m.response.TypeURL != "" && m.ch.requests == 0 {
		m.breach(m.response.TypeURL, "the client has not requested %s on this stream", short(m.response.TypeURL))
	}
}
