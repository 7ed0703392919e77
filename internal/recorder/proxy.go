// Package recorder is a proxy between xDS clients and a management server that records what they say. It passes every
// call of gRPC and every request of HTTP/1.1 on as it is, byte for byte; the streams of xDS and polls by REST are also
// recorded. A message is in the recording before it is passed on. Package recording has the format.
package recorder

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	_ "google.golang.org/grpc/encoding/gzip" // clients may compress
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// Proxy passes streams on to an upstream.
type Proxy struct {
	upstream string
	creds    credentials.TransportCredentials
	out      *Writer
	server   *grpc.Server
	polls    *polls
}

// New returns a proxy in front of an upstream, as host:port. secure is how it is connected to; nil: without TLS.
func New(upstream string, secure *tls.Config, out *Writer) *Proxy {
	p := &Proxy{upstream: upstream, creds: insecure.NewCredentials(), out: out, polls: newPolls(upstream, secure, out)}
	if secure != nil {
		p.creds = passing{credentials.NewTLS(secure)}
	}
	p.server = grpc.NewServer(
		grpc.ForceServerCodecV2(raw{}),
		grpc.UnknownServiceHandler(p.pass),
		grpc.StatsHandler(connections{p}),
		grpc.MaxRecvMsgSize(unlimited), grpc.MaxSendMsgSize(unlimited),
		// How often a client may ask whether the connection lives is for the upstream to say.
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: time.Second, PermitWithoutStream: true}),
	)
	return p
}

const unlimited = 1<<31 - 1

// Serve accepts clients until Stop.
func (p *Proxy) Serve(l net.Listener) error {
	http2, http1 := split(l)
	go func() { _ = p.polls.server.Serve(http1) }() // until Stop, or the listener fails
	return p.server.Serve(http2)
}

// Stop ends all streams, and returns when their ends are recorded.
func (p *Proxy) Stop() {
	p.polls.stop()
	p.server.Stop()
}

// dial connects to the upstream. Each client has a connection of its own, since an upstream may limit the streams of
// one.
func (p *Proxy) dial() (*grpc.ClientConn, error) {
	return grpc.NewClient(p.upstream, grpc.WithTransportCredentials(p.creds), grpc.WithDefaultCallOptions(
		grpc.ForceCodecV2(raw{}), grpc.MaxCallRecvMsgSize(unlimited), grpc.MaxCallSendMsgSize(unlimited),
	), grpc.WithDisableServiceConfig(), grpc.WithConnectParams(grpc.ConnectParams{
		// How long to wait for an upstream that is away is for the client to say: it tries again by itself.
		Backoff: backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, MaxDelay: time.Second}, MinConnectTimeout: 20 * time.Second,
	}))
}

// pass handles one call.
func (p *Proxy) pass(_ any, down grpc.ServerStream) error {
	ctx := down.Context()
	method, _ := grpc.Method(ctx)
	conn, ok := ctx.Value(connection{}).(*grpc.ClientConn)
	if !ok {
		return status.Error(codes.Unavailable, "the proxy cannot connect")
	}
	if in, ok := metadata.FromIncomingContext(ctx); ok {
		ctx = metadata.NewOutgoingContext(ctx, in.Copy())
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	recorded := p.out.Open(method)
	err := p.call(ctx, conn, method, down, recorded)
	if recorded != nil {
		s := status.Convert(err)
		recorded.Close(s.Code().String(), s.Message())
	}
	return err
}

func (p *Proxy) call(ctx context.Context, conn *grpc.ClientConn, method string, down grpc.ServerStream, recorded *StreamWriter) error {
	up, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, method, authority(ctx)...)
	if err != nil {
		return err
	}
	go p.requests(down, up, recorded) // until the stream has ended
	return p.responses(up, down, recorded)
}

// requests passes what the client sends on, until it has sent all or the stream has ended: responses says how.
func (p *Proxy) requests(down grpc.ServerStream, up grpc.ClientStream, recorded *StreamWriter) {
	for {
		frame := &frame{}
		if err := down.RecvMsg(frame); err != nil {
			_ = up.CloseSend() // of a stream that has ended, it does nothing
			return
		}
		if recorded != nil {
			recorded.Request(frame.data)
		}
		if p.out.lost() {
			return // Stop ends the stream
		}
		if up.SendMsg(frame) != nil {
			return
		}
	}
}

// responses passes what the upstream sends on. The status of the stream is that of the upstream.
func (p *Proxy) responses(up grpc.ClientStream, down grpc.ServerStream, recorded *StreamWriter) error {
	header, err := up.Header()
	if err == nil {
		err = down.SendHeader(header)
	}
	for err == nil {
		frame := &frame{}
		if err = up.RecvMsg(frame); err != nil {
			break
		}
		if recorded != nil {
			recorded.Response(frame.data)
		}
		if p.out.lost() {
			return status.Error(codes.Unavailable, "the recording cannot be written")
		}
		err = down.SendMsg(frame)
	}
	down.SetTrailer(up.Trailer())
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// frame is a message that is not decoded.
type frame struct{ data []byte }

// raw is a codec that passes bytes.
type raw struct{}

func (raw) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.(*frame).data)}, nil
}

func (raw) Unmarshal(data mem.BufferSlice, v any) error {
	v.(*frame).data = data.Materialize()
	return nil
}

func (raw) Name() string { return "proto" }
