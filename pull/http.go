package pull

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// caller makes HTTP requests to one server.
type caller struct {
	client *http.Client
	base   string
	server Server
}

// newCaller returns a caller for a server whose address is a URL; unix:///path is a Unix socket.
func newCaller(server Server) (*caller, error) {
	transport := &http.Transport{TLSClientConfig: server.TLS, Proxy: http.ProxyFromEnvironment}
	base := strings.TrimSuffix(server.Address, "/")
	if path, ok := strings.CutPrefix(base, "unix://"); ok {
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		}
		base = "http://localhost"
	}
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%s %w", server, ErrAddress)
	}
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &caller{client, base, server}, nil
}

// close closes the connections.
func (c *caller) close() { c.client.CloseIdleConnections() }

// do sends a request and reads the whole answer, whatever its status is.
func (c *caller) do(ctx context.Context, method, path string, body io.Reader) (status int, answer []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return 0, nil, err
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	request.Header.Set("User-Agent", "xdslint")
	for _, header := range c.server.Headers {
		request.Header.Add(header[0], header[1])
	}
	response, err := c.client.Do(request)
	if err != nil {
		return 0, nil, c.unwrapped(err)
	}
	defer response.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(response.Body, MaxTotal+1))
	switch {
	case err != nil:
		err = fmt.Errorf("%s: the answer is incomplete: %w", path, err)
	case len(answer) > MaxTotal:
		err = fmt.Errorf("the server sends too much: more than %d MiB", MaxTotal>>20)
	}
	return response.StatusCode, answer, err
}

// unwrapped removes the method and the path from a connection error.
func (c *caller) unwrapped(err error) error {
	if bad, ok := errors.AsType[*url.Error](err); ok {
		err = bad.Err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	text := oneLine(c.server.scrub(err.Error()))
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok || strings.Contains(text, "server gave HTTP response to HTTPS client") {
		text = "the server does not speak TLS: write http://"
	}
	return fmt.Errorf("%s: %s%s", c.server, text, hint(text, c.server.TLS))
}

// statusError returns the error for an HTTP status that is not a success.
func (c *caller) statusError(what string, status int, answer []byte) error {
	text := oneLine(c.server.scrub(strings.Join(strings.Fields(string(answer)), " ")))
	if text != "" {
		text = ": " + text
	}
	return fmt.Errorf("%s: the server answered %d %s%s", what, status, http.StatusText(status), text)
}
