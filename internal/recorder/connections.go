package recorder

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/stats"
)

// connections gives each connection of a client one to the upstream, as long as it lasts.
type connections struct{ p *Proxy }

// connection is the key of the connection to the upstream.
type connection struct{}

// TagConn implements stats.Handler: the contexts of all calls on the connection come from its result.
func (c connections) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context {
	conn, err := c.p.dial()
	if err != nil {
		return ctx // the calls say so
	}
	return context.WithValue(ctx, connection{}, conn)
}

// HandleConn implements stats.Handler.
func (connections) HandleConn(ctx context.Context, s stats.ConnStats) {
	if _, ended := s.(*stats.ConnEnd); !ended {
		return
	}
	if conn, ok := ctx.Value(connection{}).(*grpc.ClientConn); ok {
		_ = conn.Close() // nothing uses it any longer
	}
}

// TagRPC implements stats.Handler.
func (connections) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// HandleRPC implements stats.Handler.
func (connections) HandleRPC(context.Context, stats.RPCStats) {}
