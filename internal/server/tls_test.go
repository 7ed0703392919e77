package server

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/xdslint/xdslint"
)

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t testing.TB) *authority {
	t.Helper()
	a := &authority{}
	raw, key := a.sign(t, 1, true)
	cert, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	a.cert, a.key = cert, key
	return a
}

// sign makes a certificate for 127.0.0.1; an authority without one of its own signs itself.
func (a *authority) sign(t testing.TB, serial int64, isCA bool) (raw []byte, key *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	made := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "xdslint"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: isCA, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	parent, signer := made, key
	if a.cert != nil {
		parent, signer = a.cert, a.key
	}
	if raw, err = x509.CreateCertificate(rand.Reader, made, parent, key.Public(), signer); err != nil {
		t.Fatal(err)
	}
	return raw, key
}

func encoded(t testing.TB, raw []byte, key *ecdsa.PrivateKey) (cert, pair []byte) {
	t.Helper()
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
}

// write puts a certificate of the authority into files, one after the other.
func (a *authority) write(t testing.TB, files Files, serial int64) {
	t.Helper()
	raw, key := a.sign(t, serial, false)
	cert, private := encoded(t, raw, key)
	save(t, files.Cert, cert)
	save(t, files.Key, private)
}

func (a *authority) pair(t testing.TB) tls.Certificate {
	t.Helper()
	raw, key := a.sign(t, 7, false)
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}
}

func (a *authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

func save(t testing.TB, file string, text []byte) {
	t.Helper()
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func newFiles(t testing.TB) Files {
	dir := t.TempDir()
	return Files{Cert: filepath.Join(dir, "tls.crt"), Key: filepath.Join(dir, "tls.key")}
}

// listening serves over TCP until the test ends.
func listening(t *testing.T, s *Server) (address string) {
	t.Helper()
	address, _ = stoppable(t, s)
	return address
}

// stoppable serves over TCP until stop is called, or the test ends.
func stoppable(t *testing.T, s *Server) (address string, stop context.CancelFunc) {
	t.Helper()
	s.farewell = 0
	if s.certificates != nil {
		s.certificates.every = 0
	}
	l, err := s.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return l.Addr().String(), stop
}

// TestRotation: while clients connect without a pause, the certificate is replaced, and its key a moment later. No handshake fails, and the new
// certificate is served.
func TestRotation(t *testing.T) {
	ca, files := newAuthority(t), newFiles(t)
	ca.write(t, files, 100)
	address := listening(t, made(t, Options{TLS: &files}))

	var shakes errgroup.Group
	var seen sync.Map
	var stop atomic.Bool
	serials := make(chan int64, 100)
	for range 4 {
		shakes.Go(func() error {
			for !stop.Load() {
				c, err := tls.Dial("tcp", address, &tls.Config{RootCAs: ca.pool(), MinVersion: tls.VersionTLS12})
				if err != nil {
					return err
				}
				serial := c.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
				if err := c.Close(); err != nil {
					return err
				}
				if _, known := seen.LoadOrStore(serial, true); !known {
					serials <- serial
				}
			}
			return nil
		})
	}
	failed := make(chan error, 1)
	go func() { failed <- shakes.Wait() }()
	for serial := int64(100); serial < 105; serial++ {
		if serial > 100 {
			ca.write(t, files, serial)
		}
		select {
		case got := <-serials:
			if got != serial {
				t.Errorf("certificate %d is served, want %d", got, serial)
			}
		case err := <-failed:
			t.Fatalf("a handshake failed: %v", err)
		}
	}
	stop.Store(true)
	if err := <-failed; err != nil {
		t.Errorf("a handshake failed: %v", err)
	}
}

// A certificate that cannot be reloaded is logged once, and the previous one is served.
func TestBrokenRotation(t *testing.T) {
	ca, files := newAuthority(t), newFiles(t)
	ca.write(t, files, 100)
	var log logged
	s := made(t, Options{TLS: &files, Log: log.logger()})
	s.certificates.every = 0
	for _, broken := range []string{"no certificate", ""} {
		save(t, files.Cert, []byte(broken))
		for range 3 {
			if pair, _ := s.certificates.current(); pair.Leaf.SerialNumber.Int64() != 100 {
				t.Errorf("certificate %d is served", pair.Leaf.SerialNumber)
			}
		}
	}
	if n := strings.Count(log.String(), "cannot be reloaded"); n != 1 || strings.Contains(log.String(), "PRIVATE") {
		t.Errorf("the log says %s", &log.text)
	}
	ca.write(t, files, 101)
	if pair, _ := s.certificates.current(); pair.Leaf.SerialNumber.Int64() != 101 {
		t.Errorf("certificate %d is served at the end", pair.Leaf.SerialNumber)
	}
}

func client(t *testing.T, config *tls.Config) *http.Client {
	transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// TestTLS: the server uses HTTP/2 over TLS, and no version older than TLS 1.2, nor suites of it with CBC.
func TestTLS(t *testing.T) {
	ca, files := newAuthority(t), newFiles(t)
	ca.write(t, files, 100)
	address := listening(t, made(t, Options{TLS: &files, Log: (&logged{}).logger()}))
	response, err := client(t, &tls.Config{RootCAs: ca.pool()}).Post("https://"+address+"/v1/lint", "", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK || response.ProtoMajor != 2 {
		t.Errorf("%s %s", response.Proto, response.Status)
	}
	if c, err := tls.Dial("tcp", address, &tls.Config{RootCAs: ca.pool(), MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}); err == nil {
		_ = c.Close()
		t.Error("TLS 1.1 is spoken")
	}
	for suite, want := range map[uint16]bool{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: true, tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: false} {
		c, err := tls.Dial("tcp", address, &tls.Config{RootCAs: ca.pool(), MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{suite}})
		if err == nil {
			_ = c.Close()
		}
		if got := err == nil; got != want {
			t.Errorf("%s: %v", tls.CipherSuiteName(suite), err)
		}
	}
}

// Over HTTP/2, too, a request that was taken is answered when the server stops.
func TestStopHTTP2(t *testing.T) {
	ca, files := newAuthority(t), newFiles(t)
	ca.write(t, files, 100)
	taken, release := make(chan bool), make(chan bool)
	s := made(t, Options{TLS: &files, Linter: fake{lint: func(ctx context.Context, texts map[string][]byte) (*xdslint.Report, error) {
		taken <- true
		<-release
		return nothing(ctx, texts)
	}}})
	address, stop := stoppable(t, s)
	asking := client(t, &tls.Config{RootCAs: ca.pool()})
	answer := make(chan error, 1)
	go func() {
		response, err := asking.Post("https://"+address+"/v1/lint", "", strings.NewReader("{}"))
		if err == nil {
			_, err = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
			if response.StatusCode != http.StatusOK || response.ProtoMajor != 2 {
				err = fmt.Errorf("%s %s", response.Proto, response.Status)
			}
		}
		answer <- err
	}()
	<-taken
	stop()
	<-s.stopping
	close(release)
	if err := <-answer; err != nil {
		t.Error(err)
	}
}

// TestClientCertificates: with a CA for clients, the server answers only clients with a certificate of that CA, and probes. A new CA takes effect at once.
func TestClientCertificates(t *testing.T) {
	ca, clients, others := newAuthority(t), newAuthority(t), newAuthority(t)
	files := newFiles(t)
	files.ClientCA = filepath.Join(filepath.Dir(files.Cert), "ca.crt")
	ca.write(t, files, 100)
	trust := func(a *authority) {
		cert, _ := encoded(t, a.cert.Raw, a.key)
		save(t, files.ClientCA, cert)
	}
	trust(clients)
	address := listening(t, made(t, Options{TLS: &files, Log: (&logged{}).logger()}))
	status := func(path string, pairs ...tls.Certificate) int {
		t.Helper()
		response, err := client(t, &tls.Config{RootCAs: ca.pool(), Certificates: pairs}).Get("https://" + address + path)
		if err != nil {
			return 0
		}
		defer response.Body.Close()
		_, _ = io.Copy(io.Discard, response.Body)
		return response.StatusCode
	}
	for _, test := range []struct {
		path  string
		pairs []tls.Certificate
		want  int
	}{
		{"/metrics", nil, http.StatusUnauthorized},
		{"/nothing", nil, http.StatusNotFound},
		{"/healthz", nil, http.StatusOK},
		{"/readyz", nil, http.StatusOK},
		{"/metrics", []tls.Certificate{clients.pair(t)}, http.StatusOK},
		{"/metrics", []tls.Certificate{others.pair(t)}, 0},
	} {
		if got := status(test.path, test.pairs...); got != test.want {
			t.Errorf("%s with %d certificates: status %d, want %d", test.path, len(test.pairs), got, test.want)
		}
	}
	trust(others)
	if got := status("/metrics", others.pair(t)); got != http.StatusOK {
		t.Errorf("a client of the new CA gets status %d", got)
	}
	if got := status("/metrics", clients.pair(t)); got != 0 {
		t.Errorf("a client of the old CA gets status %d", got)
	}
}

// Without TLS only this machine is served.
func TestListen(t *testing.T) {
	s := made(t, Options{})
	for address, want := range map[string]bool{
		"localhost:0": true, "127.0.0.1:0": true, "127.8.8.8:0": true,
		":0": false, "0.0.0.0:0": false, "[::]:0": false, "192.0.2.1:0": false,
	} {
		l, err := s.Listen(address)
		if err == nil {
			_ = l.Close()
		}
		if (err == nil) != want {
			t.Errorf("%s: %v", address, err)
		}
	}
	files := newFiles(t)
	newAuthority(t).write(t, files, 1)
	l, err := made(t, Options{TLS: &files}).Listen(":0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
}

// TestBadFiles: a certificate that cannot be used is an error at the start.
func TestBadFiles(t *testing.T) {
	ca := newAuthority(t)
	good, other := newFiles(t), newFiles(t)
	ca.write(t, good, 1)
	ca.write(t, other, 2)
	for name, test := range map[string]struct {
		files Files
		want  string
	}{
		"absent":            {Files{Cert: "nonesuch.crt", Key: good.Key}, "nonesuch.crt: no such file"},
		"of another":        {Files{Cert: good.Cert, Key: other.Key}, "are not a certificate and its key"},
		"no CA in the file": {Files{Cert: good.Cert, Key: good.Key, ClientCA: good.Key}, "does not contain a certificate"},
	} {
		if _, err := New(Options{TLS: &test.files}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
