package grpctest

import (
	"context"
	"net"
	"net/netip"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// pipes is a listener in memory. Its address, and those of its connections, are whatever a test says.
type pipes struct {
	address *net.TCPAddr
	conns   chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

func newPipes(address netip.AddrPort) *pipes {
	return &pipes{address: net.TCPAddrFromAddrPort(address), conns: make(chan net.Conn), closed: make(chan struct{})}
}

// Accept returns the next connection.
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close ends the listener.
func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// Addr returns the address of the listener.
func (p *pipes) Addr() net.Addr { return p.address }

// connect returns a client whose connections come from an address, and go to another one.
func (p *pipes) connect(from, to netip.AddrPort, authority string) (*grpc.ClientConn, error) {
	dial := func(ctx context.Context, _ string) (net.Conn, error) {
		near, far := net.Pipe()
		select {
		case p.conns <- &pipe{far, net.TCPAddrFromAddrPort(to), net.TCPAddrFromAddrPort(from)}:
			return near, nil
		case <-p.closed:
			return nil, net.ErrClosed
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return grpc.NewClient("passthrough:///"+p.address.String(), grpc.WithContextDialer(dial), grpc.WithAuthority(authority), grpc.WithTransportCredentials(insecure.NewCredentials()))
}

// pipe is the end of a connection that a server has.
type pipe struct {
	net.Conn
	local, remote net.Addr
}

// LocalAddr returns the address of the server.
func (p *pipe) LocalAddr() net.Addr { return p.local }

// RemoteAddr returns the address of the client.
func (p *pipe) RemoteAddr() net.Addr { return p.remote }
