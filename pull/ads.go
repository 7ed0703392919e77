package pull

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/xdslint/xdslint/internal/redact"
)

// Server is a management server.
type Server struct {
	// Address is host:port, or what else gRPC's resolvers take (unix:///path); for REST, a URL.
	Address string
	// TLS of the connection; nil: none.
	TLS *tls.Config
	// Headers go with each request: names and values.
	Headers [][2]string
}

// String is the address without the password that a URL may have.
func (s Server) String() string {
	if u, err := url.Parse(s.Address); err == nil {
		return u.Redacted()
	}
	return s.Address
}

// scrub takes what is secret out of what a server says: it may repeat what it was sent, be it without the scheme before a token.
func (s Server) scrub(text string) string {
	for _, header := range s.Headers {
		_, token, _ := strings.Cut(header[1], " ") // Bearer TOKEN
		for _, sent := range []string{header[1], strings.TrimSpace(token)} {
			if len(sent) > 3 { // less is no secret, and part of every other word
				text = strings.ReplaceAll(text, sent, redact.Redaction)
			}
		}
	}
	return redact.Looks(text)
}

// SotW fetches over the aggregated stream, state of the world: AggregatedDiscoveryService.StreamAggregatedResources. A stream that breaks
// after it brought something is opened again. When the context's deadline passes, the result is what has come; ErrSilent if nothing has.
func SotW(ctx context.Context, server Server, r Request) (*Result, error) {
	r = r.filled()
	b := newBooks(server, r.Types, false)
	return overGRPC(ctx, server, r, b, func(ctx context.Context, c discoveryv3.AggregatedDiscoveryServiceClient) (link, error) {
		return openSotW(ctx, c, r.Node, b)
	})
}

// Delta fetches over the aggregated stream of the Delta protocol: AggregatedDiscoveryService.DeltaAggregatedResources. It ends as SotW does. A stream
// that is opened again tells the server what has come already (initial_resource_versions).
func Delta(ctx context.Context, server Server, r Request) (*Result, error) {
	r = r.filled()
	b := newBooks(server, r.Types, true)
	return overGRPC(ctx, server, r, b, func(ctx context.Context, c discoveryv3.AggregatedDiscoveryServiceClient) (link, error) {
		return openDelta(ctx, c, r.Node, b)
	})
}

// link is one stream, of either protocol.
type link interface {
	// ask sends what the server does not know yet: names, and the ACK of the last response.
	ask() error
	// receive waits for the next response.
	receive() (message, error)
	// took notes that a response has been taken in, and is to be ACKed.
	took(message)
}

// message is a response with what an ACK repeats of it.
type message struct {
	response
	nonce string
}

type opener func(context.Context, discoveryv3.AggregatedDiscoveryServiceClient) (link, error)

func overGRPC(ctx context.Context, server Server, r Request, b *books, open opener) (*Result, error) {
	secure := insecure.NewCredentials()
	if server.TLS != nil {
		secure = credentials.NewTLS(server.TLS)
	}
	conn, err := grpc.NewClient(server.Address, grpc.WithTransportCredentials(secure), grpc.WithUserAgent(r.Node.GetUserAgentName()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(MaxMessage)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", server.Address, err)
	}
	defer conn.Close()
	s := &session{books: b, wait: r.Wait, client: discoveryv3.NewAggregatedDiscoveryServiceClient(conn), open: open}
	for _, header := range server.Headers {
		ctx = metadata.AppendToOutgoingContext(ctx, header[0], header[1])
	}
	err = s.run(ctx)
	switch {
	case errors.Is(err, ErrSilent) && conn.GetState() != connectivity.Ready:
		return nil, fmt.Errorf("%s: no connection in time: nobody is there, or what is there does not speak gRPC", server.Address)
	case err != nil:
		return nil, explain(err, server)
	}
	return b.result(), nil
}

// session is a series of streams to one server.
type session struct {
	*books
	wait   time.Duration
	client discoveryv3.AggregatedDiscoveryServiceClient
	open   opener
	heard  bool  // a response of any stream
	broken error // of the last stream that broke
}

// pause is before a broken stream is opened again.
const pause = 100 * time.Millisecond

func (s *session) run(ctx context.Context) error {
	for {
		progress, err := s.stream(ctx)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil, due(ctx) && status.Code(err) == codes.DeadlineExceeded:
			return s.over(ctx)
		case !progress:
			return err
		}
		s.broken = err
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return s.over(ctx)
		}
	}
}

// due tells whether the deadline is at hand: the server may end a stream for it a moment before the context does.
func due(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ok && time.Until(deadline) < pause
}

// over ends what the context does not leave the time for.
func (s *session) over(ctx context.Context) error {
	s.late = true
	return s.end(ctx.Err())
}

// end is the error of an end that the server did not bring about. What has come is the result, unless somebody interrupted.
func (s *session) end(err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case !s.heard:
		return ErrSilent
	case s.broken != nil && !s.settled():
		s.fault("%v", explain(s.broken, s.server))
	}
	return nil
}

// settle is how long the server must say nothing once all has been answered: a large answer may come in several messages.
const settle = 200 * time.Millisecond

// stream talks over one stream until nothing more is to be expected; progress tells whether it brought anything.
func (s *session) stream(ctx context.Context) (progress bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	l, err := s.open(ctx, s.client)
	if err != nil {
		cancel()
		return false, err
	}
	incoming := make(chan message)
	var broken error
	go func() {
		defer close(incoming)
		for {
			var m message
			if m, broken = l.receive(); broken != nil {
				return
			}
			select {
			case incoming <- m:
			case <-ctx.Done():
				broken = ctx.Err()
				return
			}
		}
	}()
	defer func() { // the receiver is gone before the stream is
		cancel()
		for range incoming {
		}
	}()

	for {
		if err := l.ask(); err != nil && !errors.Is(err, io.EOF) { // io.EOF: the receiver has the reason
			return progress, err
		}
		silence := s.wait
		if s.settled() {
			silence = settle
		}
		timer := time.NewTimer(silence)
		select {
		case m, ok := <-incoming:
			timer.Stop()
			if !ok && s.heard && s.settled() {
				return progress, nil // it has all been said
			}
			if !ok {
				return progress, broken
			}
			progress, s.heard = true, true
			if err := s.accept(m.response); err != nil {
				return false, err
			}
			l.took(m)
		case <-timer.C:
			return progress, s.end(context.DeadlineExceeded)
		case <-ctx.Done():
			timer.Stop()
			return progress, ctx.Err()
		}
	}
}

// explain puts what gRPC says in words, with what can be done.
func explain(err error, server Server) error {
	if errors.Is(err, ErrSilent) || errors.Is(err, context.Canceled) {
		return err
	}
	if errors.Is(err, io.EOF) {
		return errors.New("the server closed the stream without a reason")
	}
	s, ok := status.FromError(err)
	if !ok {
		return err
	}
	text := oneLine(server.scrub(s.Message()))
	switch s.Code() {
	case codes.Unavailable:
		return fmt.Errorf("%s: %s%s", server.Address, reason(text), hint(text, server.TLS))
	case codes.Unimplemented:
		return fmt.Errorf("the server does not have this service: %s (try the other --transport, or --rest)", text)
	case codes.Unauthenticated, codes.PermissionDenied:
		return fmt.Errorf("the server refuses us: %s (--header and --tls-cert say who asks)", text)
	case codes.ResourceExhausted:
		return fmt.Errorf("the server's message is too large, or there are too many: %s", text)
	case codes.Canceled:
		return context.Canceled
	}
	return fmt.Errorf("the server closed the stream: %s: %s", s.Code(), text)
}

// reason takes gRPC's layers off an error of a connection.
func reason(text string) string {
	_, inner, ok := strings.Cut(text, `connection error: desc = "`)
	if !ok {
		return text
	}
	inner = strings.TrimPrefix(strings.TrimSuffix(inner, `"`), "transport: ")
	inner = strings.TrimPrefix(inner, "Error while dialing: ")
	return strings.TrimPrefix(inner, "authentication handshake failed: ")
}

// hint guesses why there is no connection.
func hint(text string, secure *tls.Config) string {
	has := func(part string) bool { return strings.Contains(text, part) }
	switch {
	case has("looked like an HTTP/1.1 header"):
		return " (what is there speaks HTTP/1.1 and no gRPC: --rest or --admin)"
	case secure == nil && has("reading server preface"):
		return " (a server with TLS needs no --plaintext)"
	case secure == nil:
		return ""
	case has("first record does not look like a TLS handshake"):
		return " (a server without TLS needs --plaintext)"
	case has("unknown authority"):
		return " (--tls-ca names the certificate authority)"
	case has("certificate is valid for"), has("doesn't contain any IP SANs"):
		return " (--tls-server-name is the name in the certificate)"
	case len(secure.Certificates) > 0:
		return ""
	case has("certificate required"), has("broken pipe"), has("connection reset"), has("reading server preface"): // whatever the client meets first
		return " (--tls-cert and --tls-key give a client's certificate, if the server wants one)"
	}
	return ""
}
