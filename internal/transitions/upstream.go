package transitions

import (
	"bufio"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/protobuf/proto"
)

// upstream answers every request with 200 and its name, over HTTP/1.1 and HTTP/2. It accepts what its clusters use: plain text, TLS, or both.
type upstream struct {
	name   string
	port   uint32
	server *http.Server
	first  sync.Once // health check
	slow   time.Duration
}

// speech says what an upstream accepts.
type speech struct{ plain, tls bool }

// checkTime is how long a service takes that a filter asks, so that some calls are under way at any time.
const checkTime = 100 * time.Millisecond

// nameHeader is the header with the name of an upstream.
const nameHeader = "X-Upstream"

func startUpstream(name string, certificate tls.Certificate, takes speech, slow time.Duration) (*upstream, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	u := &upstream{name: name, port: uint32(l.Addr().(*net.TCPAddr).Port), slow: slow}
	u.server = &http.Server{Handler: u, Protocols: new(http.Protocols), TLSConfig: &tls.Config{
		Certificates: []tls.Certificate{certificate}, NextProtos: []string{"h2", "http/1.1"},
	}}
	u.server.Protocols.SetHTTP1(true)
	u.server.Protocols.SetHTTP2(true)
	u.server.Protocols.SetUnencryptedHTTP2(true)
	s := &sniffer{Listener: l, config: u.server.TLSConfig, takes: takes, conns: make(chan net.Conn), done: make(chan struct{})}
	go s.accept()
	go func() { _ = u.server.Serve(s) }()
	return u, nil
}

func (u *upstream) close() { _ = u.server.Close() }

func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasPrefix(r.UserAgent(), "Envoy/HC"):
		u.first.Do(func() { time.Sleep(u.slow) })
	case strings.HasPrefix(r.URL.Path, "/authorize"):
		time.Sleep(checkTime)
	case strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc"):
		serveGRPC(w, r)
		return
	}
	w.Header().Set(nameHeader, u.name)
	_, _ = io.WriteString(w, "ok")
}

// serveGRPC answers as an authorization or rate limit service or a processor that agrees to everything.
func serveGRPC(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/grpc")
	w.Header().Set("Trailer", "Grpc-Status")
	defer w.Header().Set("Grpc-Status", "0")
	for frames := bufio.NewReader(r.Body); ; {
		asked, err := readFrame(frames)
		if err != nil {
			return
		}
		time.Sleep(checkTime)
		var answer []byte // an empty message means yes, but not to Envoy that waits for a processor
		if strings.HasPrefix(r.URL.Path, "/envoy.service.ext_proc.") {
			answer = processed(asked)
		}
		_, _ = w.Write(append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(answer))), answer...)) //nolint:gosec // a few bytes
		_ = http.NewResponseController(w).Flush()
	}
}

// readFrame reads a message of a gRPC stream.
func readFrame(r io.Reader) ([]byte, error) {
	var prefix [5]byte // whether it is compressed, and the length
	if _, err := io.ReadFull(r, prefix[:]); err != nil {
		return nil, err
	}
	message := make([]byte, binary.BigEndian.Uint32(prefix[1:]))
	_, err := io.ReadFull(r, message)
	return message, err
}

// processed is the answer to the headers of a request or of a response: they stay as they are.
func processed(asked []byte) []byte {
	var q extprocv3.ProcessingRequest
	_ = proto.Unmarshal(asked, &q) // otherwise Envoy complains
	p := &extprocv3.ProcessingResponse{Response: &extprocv3.ProcessingResponse_RequestHeaders{RequestHeaders: &extprocv3.HeadersResponse{}}}
	if q.GetResponseHeaders() != nil {
		p.Response = &extprocv3.ProcessingResponse_ResponseHeaders{ResponseHeaders: &extprocv3.HeadersResponse{}}
	}
	answer, _ := proto.Marshal(p)
	return answer
}

// sniffer is a listener for plain text and TLS, which it distinguishes by the first byte.
type sniffer struct {
	net.Listener
	config *tls.Config
	takes  speech
	conns  chan net.Conn
	once   sync.Once
	done   chan struct{}
}

func (s *sniffer) accept() {
	for {
		conn, err := s.Listener.Accept()
		if err != nil {
			_ = s.Close()
			return
		}
		go s.sniff(conn)
	}
}

func (s *sniffer) sniff(conn net.Conn) {
	const handshake = 0x16
	// Envoy opens connections only to use them.
	_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
	peeked := &peekedConn{Conn: conn, reader: bufio.NewReader(conn)}
	first, err := peeked.reader.Peek(1)
	secure := err == nil && first[0] == handshake
	if err != nil || secure && !s.takes.tls || !secure && !s.takes.plain {
		_ = conn.Close()
		return
	}
	_ = conn.SetReadDeadline(time.Time{})
	conn = peeked
	if secure {
		conn = tls.Server(conn, s.config)
	}
	select {
	case s.conns <- conn:
	case <-s.done:
		_ = conn.Close()
	}
}

func (s *sniffer) Accept() (net.Conn, error) {
	select {
	case conn := <-s.conns:
		return conn, nil
	case <-s.done:
		return nil, net.ErrClosed
	}
}

func (s *sniffer) Close() error {
	s.once.Do(func() { close(s.done) })
	if err := s.Listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

type peekedConn struct {
	net.Conn
	reader *bufio.Reader
}

func (c *peekedConn) Read(b []byte) (int, error) { return c.reader.Read(b) }
