package walktest

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/internal/walk"
)

// aimed makes a request. Most of those at the boundaries do not get past routes and filters, so every other one is the first of several that gets to an
// upstream, as the walk has it.
func (m *maker) aimed(w *walk.Walker, b walk.Boundaries, c *configuration) *walk.Request {
	tries := pick(m, 1, 60)
	for {
		r := m.request(b, c)
		r.Source = "127.0.0.1"
		if tries--; tries <= 0 || forwarded(w, r) {
			return r
		}
	}
}

// forwarded reports whether an upstream answers a request.
func forwarded(w *walk.Walker, r *walk.Request) bool {
	a, err := w.Walk(r)
	return err == nil && (a.Cluster != nil || len(a.Weighted) > 0)
}

// request makes a request from the boundaries of a configuration.
func (m *maker) request(b walk.Boundaries, c *configuration) *walk.Request {
	r := &walk.Request{Method: pick(m, "GET", "GET", "GET", "POST", "PUT", "OPTIONS", "HEAD", "DELETE")}
	if !m.one(60) {
		name := pick(m, b.Authorities...)
		r.Authority = &name
	}
	path := m.raw(pick(m, b.Paths...)) + pick(m, b.Queries...)
	r.Path = &path
	if m.one(25) && !c.waits {
		r.Method, r.Path = "CONNECT", nil
		name := "shop.test:443"
		r.Authority = &name
	}
	for _, name := range slices.Sorted(maps.Keys(b.Headers)) {
		m.withHeader(r, name, b.Headers[name])
	}
	m.extras(r, c)
	if c.wide {
		m.widenRequest(r)
	}
	switch m.IntN(20) {
	case 0:
		r.HTTP = "1.0"
	case 1, 2, 3, 4:
		m.overHTTP2(r)
	}
	if c.tls && !m.one(6) {
		r.TLS = true
		if len(b.ServerNames) > 0 && !m.one(4) {
			r.SNI = pick(m, b.ServerNames...)
		}
		r.ALPN = pick(m, nil, []string{"http/1.1"}, []string{"http/1.1", "x"})
		r.ClientCert.Presented = m.one(2)
		if r.ClientCert.Presented {
			r.ClientCert.Name = certified
		}
		if r.HTTP == "2" {
			r.ALPN = pick(m, []string{"h2"}, []string{"h2", "http/1.1"}, nil)
		}
	}
	if c.proxied && !m.one(4) {
		r.ProxyProtocol = &walk.Proxied{Source: pick(m, "10.1.2.3:1000", "5.6.7.8:1000", "127.0.0.1:1000"), Destination: pick(m, "10.9.9.9:443", "127.0.0.1:8080")}
	}
	return r
}

// overHTTP2 turns a request into one over HTTP/2, which does not have upgrades.
func (m *maker) overHTTP2(r *walk.Request) {
	r.HTTP = "2"
	r.Headers = slices.DeleteFunc(r.Headers, func(h walk.Header) bool { return h[0] == "connection" || h[0] == "upgrade" })
	if m.one(8) {
		r.Scheme = pick(m, "http", "https", "HTTPS")
	}
}

func (m *maker) withHeader(r *walk.Request, name string, values []string) {
	value := pick(m, values...)
	switch {
	case name == ":method":
		if m.one(3) && value != "" && r.Path != nil && slices.Contains([]string{"GET", "POST", "PUT"}, strings.ToUpper(value)) {
			r.Method = strings.ToUpper(value)
		}
	case strings.HasPrefix(name, ":") || name == "host":
	case m.one(2):
		r.Headers = append(r.Headers, walk.Header{name, value})
		if m.one(6) {
			r.Headers = append(r.Headers, walk.Header{name, pick(m, values...)})
		}
	}
}

// extras adds headers that the configurations refer to outside of matchers.
func (m *maker) extras(r *walk.Request, c *configuration) {
	add := func(chance int, name string, values ...string) {
		if m.one(chance) {
			r.Headers = append(r.Headers, walk.Header{name, pick(m, values...)})
		}
	}
	add(2, "x-cluster", "shop", "cart", "missing", "")
	add(2, "x-random", "0", "9", "10", "45", "999", "x")
	add(3, "x-host", "from-header.test", "")
	add(3, "x-tier", "gold", "silver")
	add(12, "x_under", "1")
	add(12, "x-forwarded-proto", "https", "http", "ftp")
	add(15, "x-forwarded-for", "10.0.0.1", "1.2.3.4, 5.6.7.8")
	add(15, "x-forwarded-host", "before.test", "shop.test")
	add(15, "x-level", "client", "client-2")
	add(15, "content-type", "application/grpc", "application/grpc+proto", "application/grpc-web", "text/plain")
	add(3, "origin", "https://app.test", "http://shop.test", "null", "https://evil.example", "app.test")
	add(8, "referer", "http://shop.test/x", "https://app.test/")
	add(5, "access-control-request-method", "PUT")
	add(9, "access-control-request-headers", "x-q")
	add(4, "authorization", basic("ann", "secret"), basic("bob", "other"), "Basic !", "Bearer x", "Basic "+base64.StdEncoding.EncodeToString([]byte("no-colon")))
	add(4, "x-envoy-fault-abort-request", "418", "x", "700")
	add(9, "x-envoy-fault-abort-request-percentage", "0", "100")
	if m.one(4) && r.Path != nil && r.Method != "GET" && r.Method != "HEAD" {
		r.BodyBytes = pick(m, 1, 5, 6, 30, 101)
	}
	if m.one(20) && r.Path != nil && r.BodyBytes == 0 && !c.waits {
		r.Headers = append(r.Headers, walk.Header{"connection", "Upgrade"}, walk.Header{"upgrade", pick(m, "websocket", "WebSocket", "other")})
	}
	if m.one(40) {
		for i := range 8 {
			r.Headers = append(r.Headers, walk.Header{fmt.Sprintf("x-many-%d", i), "v"})
		}
	}
}

func basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

// raw writes a path in another way, which Envoy may see as another path or not.
func (m *maker) raw(p string) string {
	if !m.one(3) {
		return p
	}
	at := 0
	if len(p) > 1 {
		at = 1 + m.IntN(len(p)-1)
	}
	switch m.IntN(14) {
	case 0:
		return "/" + p
	case 1:
		return p + "/.."
	case 2:
		return "/x/.." + p
	case 3:
		return "/." + p
	case 4:
		return strings.Replace(p, "/", "%2F", 1+m.IntN(2))
	case 5:
		return p[:at] + "%5c" + p[at:]
	case 6:
		return p[:at] + "\\" + p[at:]
	case 7:
		return p[:at] + fmt.Sprintf("%%%02x", pick(m, 'a', 'A', '.', '-', '/', '%', 0, 0x7f, 0xe4)) + p[at:]
	case 8:
		return p + "#frag"
	case 9:
		return p[:at] + "%" + p[at:]
	case 10:
		return "/%2e%2E" + p
	case 11:
		return p[:at] + string(rune(pick(m, '"', '<', '>', '`', '{', '}', '|', '^', '[', ']', '~', '!', '$', '*', '@'))) + p[at:]
	case 12:
		return pick(m, "http://shop.test", "https://shop.test:8080", "HTTP://Shop.test", "ftp://shop.test") + p
	}
	return strings.ReplaceAll(p, "/", "//")
}
