package pull

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/xdslint/xdslint/lint/secret"
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

// scrub takes what is secret out of what a server says: it may repeat what it was sent.
func (s Server) scrub(text string) string {
	for _, header := range s.Headers {
		if header[1] != "" {
			text = strings.ReplaceAll(text, header[1], secret.Redaction)
		}
	}
	return secret.Scrub(text, secret.Redaction)
}

// SotW fetches over the aggregated stream, state of the world: AggregatedDiscoveryService.StreamAggregatedResources. A stream that breaks
// after it brought something is opened again. When the context's deadline passes, the result is what has come; ErrSilent if nothing has.
func SotW(ctx context.Context, server Server, r Request) (*Result, error) {
	r = r.filled()
	b := newBooks(r.Types, false)
	return overGRPC(ctx, server, r, b, func(ctx context.Context, c discoveryv3.AggregatedDiscoveryServiceClient) (link, error) {
		return openSotW(ctx, c, r.Node, b)
	})
}

// Delta fetches over the aggregated stream of the Delta protocol: AggregatedDiscoveryService.DeltaAggregatedResources. It ends as SotW does. A stream
// that is opened again tells the server what has come already (initial_resource_versions).
func Delta(ctx context.Context, server Server, r Request) (*Result, error) {
	r = r.filled()
	b := newBooks(r.Types, true)
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
	if err := s.run(ctx); err != nil {
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
	heard  bool // a response of any stream
}

// pause is before a broken stream is opened again.
const pause = 100 * time.Millisecond

func (s *session) run(ctx context.Context) error {
	for {
		progress, err := s.stream(ctx)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return s.end(ctx.Err())
		case !progress:
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return s.end(ctx.Err())
		}
	}
}

// end is the error of an end that the server did not bring about. What has come is the result, unless somebody interrupted.
func (s *session) end(err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case !s.heard:
		return ErrSilent
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
	text := server.scrub(strings.TrimSpace(s.Message()))
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
	_, inner, ok := strings.Cut(text, `desc = "transport: `)
	if !ok {
		return text
	}
	inner = strings.TrimSuffix(inner, `"`)
	inner = strings.TrimPrefix(inner, "Error while dialing: ")
	return strings.TrimPrefix(inner, "authentication handshake failed: ")
}

// hint guesses why there is no connection.
func hint(text string, secure *tls.Config) string {
	has := func(part string) bool { return strings.Contains(text, part) }
	switch {
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
