package recorder

import (
	"context"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
)

// authority passes the :authority of a client's call on: an upstream may have virtual hosts. A client that names the
// proxy's port means the upstream, which is called by its own name.
func authority(ctx context.Context) []grpc.CallOption {
	client, ok := peer.FromContext(ctx)
	names := metadata.ValueFromIncomingContext(ctx, ":authority")
	if !ok || len(names) == 0 || port(names[0]) == port(client.LocalAddr.String()) {
		return nil
	}
	return []grpc.CallOption{grpc.CallAuthority(names[0])}
}

func port(address string) string {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return ""
	}
	return port
}

// passing are credentials with which any :authority can be sent. The certificate of the upstream is verified for its
// own name.
type passing struct {
	credentials.TransportCredentials
}

// ClientHandshake implements credentials.TransportCredentials.
func (p passing) ClientHandshake(ctx context.Context, name string, raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	conn, info, err := p.TransportCredentials.ClientHandshake(ctx, name, raw)
	return conn, passed{info}, err
}

// Clone implements credentials.TransportCredentials.
func (p passing) Clone() credentials.TransportCredentials {
	return passing{p.TransportCredentials.Clone()}
}

type passed struct{ credentials.AuthInfo }

// ValidateAuthority implements credentials.AuthorityValidator.
func (passed) ValidateAuthority(string) error { return nil }
