package evidence

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// upstream is a server in place of an endpoint. It speaks HTTP/1 and HTTP/2, and notes what it sees.
type upstream struct {
	cluster, address string // as in the example
	listener         net.Listener
	server           *http.Server
	authority        *authority

	mu   sync.Mutex
	does behaviour
	seen []seen
	from int // the first of seen after the last line that sends
}

// behaviour is what an upstream does with requests.
type behaviour struct {
	status  int // 0: 200
	after   time.Duration
	headers []header
	hangs   bool
	closes  bool
	lost    bool       // nothing gets through, and nothing closes the connections, as when a firewall forgets them
	tls     *tlsServer // nil: it speaks plain text
}

type tlsServer struct {
	version string // 1.2 or 1.3; empty: any
	name    string // in its certificate; empty: the cluster
}

var tlsVersions = map[string]uint16{"1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13}

// seen is a request as an upstream saw it.
type seen struct {
	method, path string
	headers      http.Header
	body         int
	sni          string
}

// fromHeader is in the answer of an upstream, so that the client knows who gave it.
const fromHeader = "X-Evidence-From"

func startUpstream(cluster, address string, authority *authority) (*upstream, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	u := &upstream{cluster: cluster, address: address, listener: l, authority: authority}
	var both http.Protocols
	both.SetHTTP1(true)
	both.SetHTTP2(true)
	both.SetUnencryptedHTTP2(true)
	u.server = &http.Server{
		Handler: u, Protocols: &both, ReadHeaderTimeout: time.Minute,
		TLSConfig: &tls.Config{GetConfigForClient: u.tlsConfig},
		ErrorLog:  log.New(io.Discard, "", 0), // that Envoy breaks off a handshake can be what evidence is about
	}
	go func() { _ = u.server.Serve(switching{l, u}) }()
	return u, nil
}

func (u *upstream) port() int { return u.listener.Addr().(*net.TCPAddr).Port }

func (u *upstream) close() { _ = u.server.Close() }

func (u *upstream) is(name string) bool { return u.cluster == name || u.address == name }

func (u *upstream) behaviour() behaviour {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.does
}

// switching accepts connections in the way that the upstream speaks now.
type switching struct {
	net.Listener
	u *upstream
}

func (s switching) Accept() (net.Conn, error) {
	conn, err := s.Listener.Accept()
	if err != nil {
		return nil, err
	}
	conn = losable{conn, s.u}
	if s.u.behaviour().tls != nil {
		conn = tls.Server(conn, s.u.server.TLSConfig)
	}
	return conn, nil
}

// losable is a connection whose bytes disappear while the upstream is lost.
type losable struct {
	net.Conn
	u *upstream
}

func (c losable) Read(b []byte) (n int, err error) {
	for {
		if n, err = c.Conn.Read(b); err != nil || !c.u.behaviour().lost {
			return n, err
		}
	}
}

func (c losable) Write(b []byte) (int, error) {
	if c.u.behaviour().lost {
		return len(b), nil
	}
	return c.Conn.Write(b)
}

func (u *upstream) tlsConfig(*tls.ClientHelloInfo) (*tls.Config, error) {
	t := u.behaviour().tls
	name := t.name
	if name == "" {
		name = u.cluster
	}
	pair, err := u.authority.pair(name)
	if err != nil {
		return nil, err
	}
	version := tlsVersions[t.version]
	return &tls.Config{Certificates: []tls.Certificate{pair.tls}, MinVersion: version, MaxVersion: version, NextProtos: []string{"h2", "http/1.1"}}, nil
}

func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n, _ := io.Copy(io.Discard, r.Body)
	headers := r.Header.Clone()
	headers.Set("Host", r.Host)
	sni := ""
	if r.TLS != nil {
		sni = r.TLS.ServerName
	}
	u.mu.Lock()
	u.seen = append(u.seen, seen{r.Method, r.RequestURI, headers, int(n), sni})
	does := u.does
	u.mu.Unlock()
	switch {
	case does.hangs:
		<-r.Context().Done()
		return
	case does.closes:
		panic(http.ErrAbortHandler)
	case does.after > 0:
		select {
		case <-time.After(does.after):
		case <-r.Context().Done():
			return
		}
	}
	w.Header().Set(fromHeader, u.cluster+" "+u.address)
	for _, h := range does.headers {
		w.Header().Add(h.name, h.value)
	}
	if does.status != 0 {
		w.WriteHeader(does.status)
	}
}

// since returns what the upstream has seen since the last line that sends.
func (u *upstream) since() []seen {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.seen[u.from:]
}

// forget begins again with what the upstream sees.
func (u *upstream) forget() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.from = len(u.seen)
}

// behave is a line about what an upstream does from now on.
type behave struct {
	name   string
	change func(*behaviour)
}

func (b *behave) run(_ context.Context, w *world) error {
	all, err := w.named(b.name)
	if err != nil {
		return err
	}
	for _, u := range all {
		u.mu.Lock()
		b.change(&u.does)
		u.mu.Unlock()
	}
	return nil
}

func (s seen) String() string { return fmt.Sprintf("%s %s %v", s.method, s.path, s.headers) }
