package server

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// frames is a client of HTTP/2 that writes frames as it likes, and counts the answers.
type frames struct {
	*http2.Framer
	header bytes.Buffer
	names  *hpack.Encoder
}

func openFrames(t *testing.T, address string, config *tls.Config, answers *atomic.Int64) *frames {
	t.Helper()
	config.NextProtos = []string{"h2"}
	c, err := tls.Dial("tcp", address, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if _, err := c.Write([]byte(http2.ClientPreface)); err != nil {
		t.Fatal(err)
	}
	s := &frames{Framer: http2.NewFramer(c, c)}
	s.names = hpack.NewEncoder(&s.header)
	if err := s.WriteSettings(); err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			f, err := s.ReadFrame()
			if err != nil {
				return
			}
			if _, ok := f.(*http2.HeadersFrame); ok {
				answers.Add(1)
			}
		}
	}()
	return s
}

// begin sends the header of a request with a long value. Its body never comes.
func (s *frames) begin(id uint32, value string) error {
	s.header.Reset()
	for _, f := range [][2]string{{":method", "POST"}, {":scheme", "https"}, {":authority", "x"}, {":path", "/v1/lint"}, {"x-long", value}} {
		if err := s.names.WriteField(hpack.HeaderField{Name: f[0], Value: f[1], Sensitive: f[0] == "x-long"}); err != nil {
			return err
		}
	}
	return s.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: s.header.Bytes(), EndHeaders: true})
}

// TestStreams: of connections with a hundred requests each, whose bodies never come, only as many wait as bodies may take memory, and probes are
// answered.
func TestStreams(t *testing.T) {
	const connections, long, maxBody = 60, 14 << 10, 4 << 20
	ca, files := newAuthority(t), newFiles(t)
	ca.write(t, files, 100)
	s := made(t, Options{TLS: &files, MaxBody: maxBody, Timeout: 5 * time.Minute, Log: (&logged{}).logger()})
	address := listening(t, s)
	config := &tls.Config{RootCAs: ca.pool()}
	var answers atomic.Int64
	for i := range connections {
		c := openFrames(t, address, config.Clone(), &answers)
		for n := range uint32(100) {
			if err := c.begin(2*n+1, fmt.Sprint(i, n, strings.Repeat("x", long))); err != nil {
				t.Fatal(err)
			}
		}
	}
	const held = bodiesInFlight * maxBody / long // requests at most, of which none is answered
	for began := time.Now(); answers.Load() < 100*connections-held; time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatalf("%d requests are answered", answers.Load())
		}
	}
	response, err := client(t, config.Clone()).Get("https://" + address + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("/healthz: %s", response.Status)
	}
}
