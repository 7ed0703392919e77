package server

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// Files are PEM files, which are loaded again when they change.
type Files struct {
	Cert, Key string
	ClientCA  string // certificate authorities of accepted clients; empty: all clients are accepted
}

// reloadEvery is the interval after which a new connection checks the files for changes.
const reloadEvery = time.Second

// certificates are the last valid content of Files: while a pair is replaced, its files may not match.
type certificates struct {
	files Files
	log   *slog.Logger
	every time.Duration

	mu     sync.Mutex
	looked time.Time
	texts  [3][]byte
	pair   *tls.Certificate
	roots  *x509.CertPool
	failed string // the last logged error of reloading
}

func newCertificates(files Files, log *slog.Logger) (*certificates, error) {
	c := &certificates{files: files, log: log, every: reloadEvery}
	texts, err := c.read()
	if err != nil {
		return nil, err
	}
	c.looked, c.texts = time.Now(), texts
	return c, c.parse()
}

func (c *certificates) wantsClients() bool { return c != nil && c.files.ClientCA != "" }

func (c *certificates) read() (texts [3][]byte, err error) {
	for i, name := range []string{c.files.Cert, c.files.Key, c.files.ClientCA} {
		if name == "" {
			continue
		}
		if texts[i], err = os.ReadFile(name); err != nil {
			return texts, err
		}
	}
	return texts, nil
}

func (c *certificates) parse() error {
	pair, err := tls.X509KeyPair(c.texts[0], c.texts[1])
	if err != nil {
		return fmt.Errorf("%s and %s are not a certificate and its key: %w", c.files.Cert, c.files.Key, err)
	}
	var roots *x509.CertPool
	if c.wantsClients() {
		if roots = x509.NewCertPool(); !roots.AppendCertsFromPEM(c.texts[2]) {
			return fmt.Errorf("%s does not contain a certificate", c.files.ClientCA)
		}
	}
	c.pair, c.roots = &pair, roots
	return nil
}

// current returns the certificates in the files, or the last valid ones.
func (c *certificates) current() (*tls.Certificate, *x509.CertPool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); now.Sub(c.looked) >= c.every {
		c.looked = now
		c.reload()
	}
	return c.pair, c.roots
}

func (c *certificates) reload() {
	texts, err := c.read()
	if err == nil {
		if slices.EqualFunc(texts[:], c.texts[:], bytes.Equal) {
			return
		}
		c.texts = texts
		err = c.parse()
	}
	if err != nil {
		if err.Error() != c.failed {
			c.failed = err.Error()
			c.log.Warn("the certificate cannot be reloaded; the previous one is served", "error", c.failed)
		}
		return
	}
	c.failed = ""
	c.log.Info("the certificate was reloaded", "expires", c.pair.Leaf.NotAfter)
}

// config is called for each connection.
func (c *certificates) config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"h2", "http/1.1"},
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			pair, roots := c.current()
			config := &tls.Config{
				MinVersion: tls.VersionTLS12, CipherSuites: authenticated(), NextProtos: []string{"h2", "http/1.1"}, Certificates: []tls.Certificate{*pair},
			}
			if roots != nil {
				// Probes have no certificate, so access is checked where the path is known.
				config.ClientAuth, config.ClientCAs = tls.VerifyClientCertIfGiven, roots
				// A resumed session would keep the trust in a CA that was removed since.
				config.SessionTicketsDisabled = true
			}
			return config, nil
		},
	}
}

// authenticated lists the cipher suites that encrypt and authenticate in one step: of TLS 1.2, Go also offers some with CBC.
func authenticated() (ids []uint16) {
	for _, suite := range tls.CipherSuites() {
		if !strings.Contains(suite.Name, "_CBC_") {
			ids = append(ids, suite.ID)
		}
	}
	return ids
}

func verified(r *http.Request) bool { return r.TLS != nil && len(r.TLS.VerifiedChains) > 0 }

// Listen opens the address of a server, HOST:PORT. Without TLS it must be a loopback address, so that traffic cannot be intercepted.
func (s *Server) Listen(address string) (net.Listener, error) {
	resolved, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, err
	}
	if s.certificates == nil && !resolved.IP.IsLoopback() {
		return nil, errors.New("without a certificate the address must be a loopback address, such as 127.0.0.1:8080 or localhost:8080: " +
			"add --tls-cert and --tls-key to serve others")
	}
	return net.ListenTCP("tcp", resolved)
}
