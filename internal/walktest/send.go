package walktest

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/xdslint/xdslint/internal/walk"
)

// seen is what came back for a request, and what Envoy logged about it.
type seen struct {
	key      string // the client's port, by which the log is found
	closed   bool
	status   int
	location string
	body     string
	headers  http.Header
	upstream []string // the head that the upstream saw; nil: it saw none
	log      *logged
}

// patience is how long an answer may take. Nothing depends on it while Envoy answers.
const patience = 30 * time.Second

// send sends a request on a connection of its own.
func (b *bench) send(ctx context.Context, address string, r *walk.Request) (s seen, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return s, err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	s.key = fmt.Sprint(conn.LocalAddr().(*net.TCPAddr).Port)
	if p := r.ProxyProtocol; p != nil {
		source, _ := netip.ParseAddrPort(p.Source)
		destination, _ := netip.ParseAddrPort(p.Destination)
		if _, err := fmt.Fprintf(conn, "PROXY TCP4 %s %s %d %d\r\n", source.Addr(), destination.Addr(), source.Port(), destination.Port()); err != nil {
			return s, err
		}
	}
	if r.TLS {
		config := &tls.Config{InsecureSkipVerify: true, ServerName: r.SNI, NextProtos: r.ALPN} //nolint:gosec // the server's name is not what is tested
		if r.ClientCert.Presented {
			config.Certificates = []tls.Certificate{b.client}
		}
		secured := tls.Client(conn, config)
		if err := secured.HandshakeContext(ctx); err != nil {
			s.closed = true
			return s, nil
		}
		conn = secured
	}
	response, err := ask(conn, r)
	if err != nil {
		if timeout, ok := err.(net.Error); ok && timeout.Timeout() {
			return s, fmt.Errorf("no answer to %s: %w", written(r), err)
		}
		s.closed = true
		return s, nil
	}
	defer response.Body.Close()
	var body bytes.Buffer
	if response.StatusCode != http.StatusSwitchingProtocols && r.Method != http.MethodConnect {
		_, _ = body.ReadFrom(response.Body)
	}
	s.status, s.headers, s.body = response.StatusCode, response.Header, body.String()
	s.location = response.Header.Get("location")
	s.upstream = decodeHead(response.Header.Get("x-echo"))
	return s, nil
}

// ask sends a request, and reads the answer.
func ask(conn net.Conn, r *walk.Request) (*http.Response, error) {
	if r.HTTP == "2" {
		return ask2(conn, r)
	}
	go func() { _, _ = conn.Write(written(r)) }() // Envoy may answer before it has read the body
	for in := bufio.NewReader(conn); ; {
		response, err := http.ReadResponse(in, &http.Request{Method: r.Method})
		if err != nil || response.StatusCode != http.StatusContinue {
			return response, err
		}
	}
}

// written returns the bytes of a request in HTTP/1.
func written(r *walk.Request) []byte {
	var b bytes.Buffer
	target := ""
	switch {
	case r.Path != nil:
		target = *r.Path
	case r.Authority != nil:
		target = *r.Authority
	}
	version := r.HTTP
	if version == "" {
		version = "1.1"
	}
	fmt.Fprintf(&b, "%s %s HTTP/%s\r\n", r.Method, target, version)
	if r.Authority != nil {
		fmt.Fprintf(&b, "host: %s\r\n", *r.Authority)
	}
	chunked := false
	for _, h := range r.All() {
		fmt.Fprintf(&b, "%s: %s\r\n", h[0], h[1])
		chunked = chunked || strings.EqualFold(h[0], "transfer-encoding")
	}
	body := strings.Repeat("x", r.BodyBytes)
	switch {
	case chunked && body != "":
		body = fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body)
	case chunked:
		body = "0\r\n\r\n"
	}
	b.WriteString("\r\n" + body)
	return b.Bytes()
}
