package evidence

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// send is a line that sends requests.
type send struct {
	method, path string
	listener     string // empty: the only one; admin: the admin interface
	times        int
	headers      []header
	body         int
	firstLine    string // before the request, for the PROXY protocol

	ip          string // of the machine; empty: that of the listener
	http2       bool
	tls         bool
	sni         string
	alpn        []string
	certificate string
	selfSigned  bool
	trust       string // a file of the example with the only certificate that the client trusts; empty: it verifies nothing
}

// answer is what came back.
type answer struct {
	closed      error // the connection, without an answer
	status      int
	from        string // "CLUSTER ADDRESS" of the upstream that gave it; empty: Envoy itself
	headers     http.Header
	certificate *x509.Certificate // of the server
}

func (s *send) run(ctx context.Context, w *world) error {
	address, err := w.listener(ctx, s.listener)
	if err != nil {
		return err
	}
	for _, u := range w.upstreams {
		u.forget()
	}
	if s.ip != "" {
		_, port, _ := net.SplitHostPort(address)
		address = net.JoinHostPort(s.ip, port)
	}
	w.answers = nil
	for range s.times {
		a, err := s.once(ctx, w, address)
		if err != nil {
			return err
		}
		w.answers = append(w.answers, a)
	}
	return nil
}

// once sends a request on a connection of its own. An error is a mistake in the evidence; what Envoy does is in the answer.
func (s *send) once(ctx context.Context, w *world, address string) (a answer, err error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return answer{closed: err}, nil
	}
	defer conn.Close()
	if deadline, limited := ctx.Deadline(); limited {
		_ = conn.SetDeadline(deadline)
	}
	if s.firstLine != "" {
		_, _ = io.WriteString(conn, s.firstLine+"\r\n")
	}
	if s.tls {
		config, err := s.tlsConfig(w)
		if err != nil {
			return a, err
		}
		secured := tls.Client(conn, config)
		if err := secured.HandshakeContext(ctx); err != nil {
			return answer{closed: err}, nil
		}
		a.certificate, conn = secured.ConnectionState().PeerCertificates[0], secured
	}
	response, err := s.ask(ctx, conn)
	if err != nil {
		a.closed = err
		return a, nil
	}
	defer response.Body.Close()
	a.status, a.headers, a.from = response.StatusCode, response.Header, response.Header.Get(fromHeader)
	_, _ = io.Copy(io.Discard, response.Body)
	return a, nil
}

func (s *send) tlsConfig(w *world) (*tls.Config, error) {
	config := &tls.Config{InsecureSkipVerify: true, ServerName: s.sni, NextProtos: s.alpn} //nolint:gosec // a test looks at what the server has
	if s.http2 && s.alpn == nil {
		config.NextProtos = []string{"h2"}
	}
	if s.trust != "" {
		config.InsecureSkipVerify, config.RootCAs, config.ServerName = false, x509.NewCertPool(), cmp.Or(s.sni, defaultHost)
		if !config.RootCAs.AppendCertsFromPEM([]byte(w.certificates[s.trust])) {
			return nil, fmt.Errorf("the example has no file %s with a certificate", s.trust)
		}
	}
	if s.certificate != "" {
		from := w.authority
		if s.selfSigned {
			from = newAuthority()
		}
		pair, err := from.pair(s.certificate)
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{pair.tls}
	}
	return config, nil
}

// defaultHost is the host of a request without a header host.
const defaultHost = "shop.example.com"

func (s *send) ask(ctx context.Context, conn net.Conn) (*http.Response, error) {
	if s.http2 {
		return s.askHTTP2(ctx, conn)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\n", s.method, s.path)
	if s.host() == "" {
		fmt.Fprintf(&b, "host: %s\r\n", defaultHost)
	}
	for _, h := range s.headers {
		fmt.Fprintf(&b, "%s: %s\r\n", h.name, h.value)
	}
	if s.body > 0 {
		fmt.Fprintf(&b, "content-length: %d\r\n", s.body)
	}
	b.WriteString("\r\n" + strings.Repeat("x", s.body))
	go func() { _, _ = conn.Write(b.Bytes()) }() // Envoy may answer before it has read the body
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: s.method})
	if err == nil && response.StatusCode == http.StatusContinue {
		err = fmt.Errorf("an answer %s", response.Status)
	}
	return response, err
}

func (s *send) host() string {
	for _, h := range s.headers {
		if h.name == "host" {
			return h.value
		}
	}
	return ""
}

func (s *send) askHTTP2(ctx context.Context, conn net.Conn) (*http.Response, error) {
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: &protocols, DialContext: func(context.Context, string, string) (net.Conn, error) { return conn, nil }}
	request := &http.Request{
		Method: s.method, URL: &url.URL{Scheme: "http", Host: defaultHost, Opaque: s.path}, Host: s.host(), Header: http.Header{},
		Body: io.NopCloser(strings.NewReader(strings.Repeat("x", s.body))), ContentLength: int64(s.body),
	}
	for _, h := range s.headers {
		if h.name != "host" {
			request.Header.Add(h.name, h.value)
		}
	}
	return transport.RoundTrip(request.WithContext(ctx))
}
