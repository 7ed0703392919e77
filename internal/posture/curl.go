package posture

import (
	"fmt"
	"net"
	"strings"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/internal/walk"
)

// Curl returns a command that sends the request as it is.
func (w Way) Curl() string {
	q := w.Sent
	words := []string{"curl", "-i", "--path-as-is", "--http1.1"}
	add := func(all ...string) { words = append(words, all...) }
	address := w.address()
	host := address
	if q.TLS {
		add("-k")
		if q.SNI != "" {
			host = q.SNI
			add("--connect-to", quote("::"+address))
		}
	}
	if q.ProxyProtocol != nil {
		add("--haproxy-protocol")
	}
	for _, g := range w.Guards {
		if g.Kind == walk.MTLS && g.State.Holds() {
			add("--cert", "client.crt", "--key", "client.key")
		}
	}
	switch q.Method {
	case "GET":
	case "HEAD":
		add("-I")
	default:
		add("-X", q.Method)
	}
	path := *q.Path
	if !strings.HasPrefix(path, "/") {
		add("--request-target", quote(path))
		path = "/"
	}
	if strings.ContainsAny(path, "[]{}") {
		add("-g")
	}
	add("-H", quote("Host: "+*q.Authority))
	for _, h := range q.Headers {
		add("-H", quote(h[0]+": "+h[1]))
	}
	add(quote(scheme(q) + "://" + host + path))
	return strings.Join(words, " ")
}

// address is where the listener is, seen from its machine.
func (w Way) address() string {
	own := w.At.Resource().Message.(*listenerv3.Listener).GetAddress().GetSocketAddress()
	ip := net.ParseIP(own.GetAddress())
	if ip == nil || ip.IsUnspecified() {
		ip = net.IPv4(127, 0, 0, 1)
	}
	return net.JoinHostPort(ip.String(), fmt.Sprint(own.GetPortValue()))
}

// quote writes a word for a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
