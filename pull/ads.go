package pull

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/redact"
)

// Server is a management server.
type Server struct {
	// Address is host:port or any other target of gRPC's resolvers (unix:///path). For REST and Admin it is a URL.
	Address string
	// TLS configures the connection; nil means no TLS.
	TLS *tls.Config
	// Headers are sent with each request, as names and values.
	Headers [][2]string
	// Connect opens connections for gRPC, such as to a server in memory. Nil: gRPC connects to the address.
	Connect func(ctx context.Context, address string) (net.Conn, error)
}

// String returns the address, without the password if it is a URL.
func (s Server) String() string {
	if u, err := url.Parse(s.Address); err == nil {
		return u.Redacted()
	}
	return s.Address
}

// scrub redacts secrets in a server's text. The text may repeat the headers that were sent, also without the scheme before a token.
func (s Server) scrub(text string) string {
	for _, header := range s.Headers {
		_, token, _ := strings.Cut(header[1], " ") // Bearer TOKEN
		for _, sent := range []string{header[1], strings.TrimSpace(token)} {
			if len(sent) > 3 { // a shorter value is not a secret, and is part of many words
				text = strings.ReplaceAll(text, sent, redact.Redaction)
			}
		}
	}
	return redact.Error(text)
}

// SotW fetches resources over an aggregated stream with the state of the world (AggregatedDiscoveryService.StreamAggregatedResources). A server
// that does not have one is asked over a stream for each type. A stream that breaks after a response is opened again. When the deadline of ctx
// passes, the result is what was received; the error is ErrSilent if nothing was.
func SotW(ctx context.Context, server Server, r Request) (*Result, error) {
	return overGRPC(ctx, server, r.filled(), false)
}

// Delta fetches resources over an aggregated Delta stream (AggregatedDiscoveryService.DeltaAggregatedResources), or over one for each type. It
// ends as SotW does. A stream that is opened again sends the versions of what was received before (initial_resource_versions).
func Delta(ctx context.Context, server Server, r Request) (*Result, error) {
	return overGRPC(ctx, server, r.filled(), true)
}

// link is the client's side of either protocol.
type link interface {
	// ask sends what the server does not know yet: names, and the ACK of the last response.
	ask() error
	// took records that a response was processed, so that the next ask ACKs it.
	took(message)
}

// message is a response with the nonce that its ACK repeats.
type message struct {
	response
	nonce string
}

// Dial returns a connection to the server over gRPC, whose streams send the headers. It connects when it is used.
func (s Server) Dial(userAgent string) (*grpc.ClientConn, error) {
	secure := insecure.NewCredentials()
	if s.TLS != nil {
		secure = credentials.NewTLS(s.TLS)
	}
	options := []grpc.DialOption{
		grpc.WithTransportCredentials(secure), grpc.WithUserAgent(userAgent),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(MaxMessage)), grpc.WithStreamInterceptor(s.stream),
	}
	if s.Connect != nil {
		options = append(options, grpc.WithContextDialer(s.Connect))
	}
	conn, err := grpc.NewClient(s.Address, options...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Address, err)
	}
	return conn, nil
}

// stream opens a stream with the headers.
func (s Server) stream(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, open grpc.Streamer, o ...grpc.CallOption) (grpc.ClientStream, error) {
	for _, header := range s.Headers {
		ctx = metadata.AppendToOutgoingContext(ctx, header[0], header[1])
	}
	return open(ctx, desc, conn, method, o...)
}

func overGRPC(ctx context.Context, server Server, r Request, delta bool) (*Result, error) {
	conn, err := server.Dial(r.Node.GetUserAgentName())
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	s := &session{newSubscriptions(server, r.Types, delta), r, conn, false, nil}
	if err = s.run(ctx); !s.heard && status.Code(err) == codes.Unimplemented {
		err = s.separately(ctx, err)
	}
	switch {
	case errors.Is(err, ErrSilent) && conn.GetState() != connectivity.Ready:
		return nil, fmt.Errorf("%s: no connection in time: nothing listens there, or it does not speak gRPC", server.Address)
	case err != nil:
		return nil, explain(err, server)
	}
	return s.result(), nil
}

// separately asks a server without aggregated streams over a stream for each type. If it does not have these either, the error is the first one.
func (s *session) separately(ctx context.Context, aggregated error) error {
	s.separate = true
	err := s.run(ctx)
	if len(s.unserved) == len(s.kinds) {
		return aggregated
	}
	s.fault("the server does not have aggregated streams: each type was requested over a stream of its own")
	return err
}

// session is a series of streams to one server.
type session struct {
	*subscriptions
	request Request
	conn    *grpc.ClientConn
	heard   bool  // any stream has brought a response
	broken  error // the error of the last stream that broke
}

// pause is the time before a broken stream is opened again.
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

// due reports whether the deadline is near: the server may end a stream for it a moment before ctx ends.
func due(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ok && time.Until(deadline) < pause
}

// over ends the session because ctx has ended.
func (s *session) over(ctx context.Context) error {
	s.late = true
	return s.end(ctx.Err())
}

// end returns the error of a session that the server did not end. It is nil if anything was received, unless the session was cancelled.
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

// settle is how long the server must be silent once everything was answered: a large answer may consist of several messages.
const settle = 200 * time.Millisecond

// open returns a link, which opens streams when it asks.
func (s *session) open(ctx context.Context) (link, *streams) {
	all := newStreams(ctx, s.conn, s.subscriptions)
	if s.delta {
		return &delta{all, s.request.Node, map[graph.Kind]*subscribed{}}, all
	}
	return &sotw{all, s.request.Node, map[graph.Kind]*told{}}, all
}

// stream uses a link until nothing more is expected. Progress reports whether it brought a response.
func (s *session) stream(ctx context.Context) (progress bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // what reads from streams
	l, all := s.open(ctx)
	for {
		if err := l.ask(); err != nil && !errors.Is(err, io.EOF) { // io.EOF: what reads has the reason
			return progress, err
		}
		silence := s.request.Wait
		if s.settled() {
			silence = settle
		}
		timer := time.NewTimer(silence)
		select {
		case a := <-all.incoming:
			timer.Stop()
			m, err := a.message()
			switch {
			case err != nil && s.heard && s.settled():
				return progress, nil // everything was answered
			case err != nil:
				return progress, err
			}
			progress = true
			s.heard = s.heard || m.unserved == nil
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

// explain turns a gRPC error into a message that says what to do.
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
		return fmt.Errorf("the server rejects the client: %s (set its credentials with --header or --tls-cert)", text)
	case codes.ResourceExhausted:
		return fmt.Errorf("the server's message is too large, or a limit of the server is reached: %s", text)
	case codes.Canceled:
		return context.Canceled
	}
	return fmt.Errorf("the server closed the stream: %s: %s", s.Code(), text)
}

// reason removes gRPC's wrapping from a connection error.
func reason(text string) string {
	_, inner, ok := strings.Cut(text, `connection error: desc = "`)
	if !ok {
		return text
	}
	inner = strings.TrimPrefix(strings.TrimSuffix(inner, `"`), "transport: ")
	inner = strings.TrimPrefix(inner, "Error while dialing: ")
	return strings.TrimPrefix(inner, "authentication handshake failed: ")
}

// hint guesses why the connection failed.
func hint(text string, secure *tls.Config) string {
	has := func(part string) bool { return strings.Contains(text, part) }
	switch {
	case has("looked like an HTTP/1.1 header"):
		return " (the server speaks HTTP/1.1, not gRPC: use --rest or --admin)"
	case secure == nil && has("reading server preface"):
		return " (for a server with TLS, omit --plaintext)"
	case secure == nil:
		return ""
	case has("first record does not look like a TLS handshake"):
		return " (a server without TLS needs --plaintext)"
	case has("unknown authority"):
		return " (set the certificate authority with --tls-ca)"
	case has("certificate is valid for"), has("doesn't contain any IP SANs"):
		return " (set the name in the certificate with --tls-server-name)"
	case len(secure.Certificates) > 0:
		return ""
	case has("certificate required"), has("broken pipe"), has("connection reset"), has("reading server preface"): // depends on what the client notices first
		return " (if the server requires a client certificate, set --tls-cert and --tls-key)"
	}
	return ""
}
