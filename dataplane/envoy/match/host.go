package match

import (
	"strconv"
	"strings"

	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
)

// Host returns the host of a request as a connection manager gives it to the route table. port is that of the listener
// (ConnectionManagerUtility::maybeNormalizeHost in source/common/http/conn_manager_utility.cc).
func Host(host string, m *hcmv3.HttpConnectionManager, port uint32) string {
	if m.GetStripTrailingHostDot() {
		host = withoutDot(host)
	}
	at := portStart(host)
	if at < 0 || !m.GetStripAnyHostPort() && !m.GetStripMatchingHostPort() {
		return host
	}
	named, err := strconv.ParseUint(host[at+1:], 10, 32)
	if err != nil || !m.GetStripAnyHostPort() && uint32(named) != port {
		return host
	}
	return host[:at]
}

// WithoutPort removes the last colon and everything after it (RouteMatcher::findVirtualHost with ignore_port_in_host_matching).
func WithoutPort(host string) string {
	if at := portStart(host); at >= 0 {
		return host[:at]
	}
	return host
}

// portStart follows HeaderUtility::getPortStart (source/common/http/header_utility.cc): the last colon, unless it is inside the brackets of an IPv6 address.
func portStart(host string) int {
	at := strings.LastIndexByte(host, ':')
	if at < strings.LastIndexByte(host, ']') {
		return -1
	}
	return at
}

// withoutDot follows HeaderUtility::stripTrailingHostDot: it removes a dot at the end, or before the port.
func withoutDot(host string) string {
	at := strings.LastIndexByte(host, '.')
	if at >= 0 && (at == len(host)-1 || host[at+1] == ':') {
		return host[:at] + host[at+1:]
	}
	return host
}

// NotInHosts returns the first character of a text that no host of a request has: Envoy answers such a request with 400
// (HeaderUtility::authorityIsValid).
func NotInHosts(text string) (wrong rune, found bool) {
	for _, r := range text {
		if r <= ' ' || r >= '\x7f' || strings.ContainsRune("\"#/<>?\\^`{|}", r) {
			return r, true
		}
	}
	return 0, false
}
