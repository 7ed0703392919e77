package recorder

import (
	"bytes"
	"crypto/tls"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"

	"github.com/xdslint/xdslint/internal/calls"
	"github.com/xdslint/xdslint/internal/recording"
)

// polls passes on what clients send over HTTP/1.1. Polls of xDS by REST are also recorded.
type polls struct {
	out      *Writer
	upstream http.RoundTripper
	server   *http.Server

	under   sync.RWMutex // held for reading while a request is under way
	stopped bool
	mu      sync.Mutex
	streams map[string]*StreamWriter // by path and node
}

func newPolls(upstream string, secure *tls.Config, out *Writer) *polls {
	to := &url.URL{Scheme: "http", Host: upstream}
	if secure != nil {
		to.Scheme = "https"
	}
	// The body is passed on as it is, so the transport must not decompress it.
	p := &polls{
		out: out, upstream: &http.Transport{TLSClientConfig: secure, DisableCompression: true, ForceAttemptHTTP2: secure != nil},
		streams: map[string]*StreamWriter{},
	}
	quiet := log.New(io.Discard, "", 0) // clients get the errors
	p.server = &http.Server{
		ReadHeaderTimeout: time.Minute,
		ErrorLog:          quiet,
		Handler: &httputil.ReverseProxy{Transport: p, ErrorLog: quiet, Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Host = r.In.Host
		}},
	}
	return p
}

// stop ends all requests, and returns when their ends are recorded.
func (p *polls) stop() {
	_ = p.server.Close() // clients see it
	p.under.Lock()
	defer p.under.Unlock()
	p.stopped = true
}

// RoundTrip implements http.RoundTripper.
func (p *polls) RoundTrip(q *http.Request) (*http.Response, error) {
	if _, ok := calls.Polled(q.URL.Path); !ok || q.Method != http.MethodPost {
		return p.upstream.RoundTrip(q)
	}
	p.under.RLock()
	defer p.under.RUnlock()
	if p.stopped {
		return nil, http.ErrServerClosed
	}
	asked, err := whole(&q.Body)
	if err != nil {
		return nil, err
	}
	s := p.stream(q.URL.Path, asked)
	s.Request(asked)
	if p.out.lost() {
		return nil, http.ErrServerClosed
	}
	answer, err := p.upstream.RoundTrip(q)
	if err != nil {
		s.Close("Unavailable", err.Error())
		return nil, err
	}
	switch answer.StatusCode {
	case http.StatusOK:
		said, err := whole(&answer.Body)
		if err != nil {
			s.Close("Unavailable", err.Error())
			return nil, err
		}
		s.Response(said)
	case http.StatusNotModified:
		s.write(recording.Line{NotModified: true})
	default:
		s.Close(answer.Status, "")
	}
	if p.out.lost() {
		return nil, http.ErrServerClosed
	}
	return answer, nil
}

// most is how many clients that poll are told apart.
const most = 10_000

// stream returns the stream of the client that sends a request to a path. One that is closed is followed by another one.
func (p *polls) stream(path string, request []byte) *StreamWriter {
	var q discoveryv3.DiscoveryRequest
	_, _ = unmarshalJSON(request, &q) // the recording says that it cannot be read
	key := path + "\x00" + q.GetNode().GetId()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.streams[key].open() {
		return p.streams[key]
	}
	if len(p.streams) == most {
		clear(p.streams)
	}
	s := p.out.Open(path)
	p.streams[key] = s
	return s
}

// open reports whether events of a stream are still written.
func (s *StreamWriter) open() bool {
	if s == nil {
		return false
	}
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	return !s.closed
}

// whole reads a body, and puts it back.
func whole(body *io.ReadCloser) ([]byte, error) {
	if *body == nil {
		return nil, nil
	}
	all, err := io.ReadAll(*body)
	_ = (*body).Close() // it has been read
	*body = io.NopCloser(bytes.NewReader(all))
	return all, err
}
