package walk

import (
	"cmp"
	"net"
	"strconv"
	"strings"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
)

// Toward returns a request, without a host and a path, on a connection that fits a filter chain. Another chain of the listener can fit better.
func Toward(c *listenerv3.FilterChain) *Request {
	m := c.GetFilterChainMatch()
	names, protocols := m.GetServerNames(), m.GetApplicationProtocols()
	r := &Request{Method: "GET", TLS: c.GetTransportSocket() != nil || m.GetTransportProtocol() == "tls" || len(names) > 0}
	if len(names) > 0 {
		r.SNI = strings.Replace(names[0], "*", "x", 1)
	}
	if len(protocols) > 0 {
		r.HTTP = map[string]string{"http/1.0": "1.0", "h2": "2", "h2c": "2"}[protocols[0]]
	}
	if len(protocols) > 0 && r.TLS {
		r.ALPN = protocols[:1]
	}
	r.Source = sourceFor(m)
	if port := m.GetDestinationPort(); port != nil || len(m.GetPrefixRanges()) > 0 {
		host := "10.9.9.9"
		if ranges := m.GetPrefixRanges(); len(ranges) > 0 {
			host = ranges[0].GetAddressPrefix()
		}
		r.Destination = net.JoinHostPort(host, strconv.Itoa(int(max(port.GetValue(), 1))))
	}
	return r
}

// sourceFor returns a client that fits a match, or nothing if any does.
func sourceFor(m *listenerv3.FilterChainMatch) string {
	source := ""
	switch ranges := append(m.GetSourcePrefixRanges(), m.GetDirectSourcePrefixRanges()...); {
	case len(ranges) > 0:
		source = ranges[0].GetAddressPrefix()
	case m.GetSourceType() == listenerv3.FilterChainMatch_SAME_IP_OR_LOOPBACK:
		source = "127.0.0.1"
	case m.GetSourceType() == listenerv3.FilterChainMatch_EXTERNAL:
		source = "203.0.113.7"
	}
	if ports := m.GetSourcePorts(); len(ports) > 0 {
		return net.JoinHostPort(cmp.Or(source, "203.0.113.7"), strconv.Itoa(int(ports[0])))
	}
	return source
}
