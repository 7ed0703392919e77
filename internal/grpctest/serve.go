package grpctest

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/xds"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/xdslint/xdslint/graph"
)

// callServer starts a server of gRPC that gets a listener from a management server, and sends it an RPC from the same host. The server listens on
// the address at the end of the listener's name.
func callServer(ctx context.Context, l *listenerv3.Listener, resources []proto.Message) (codes.Code, error) {
	address, err := netip.ParseAddrPort(l.GetName()[strings.LastIndexByte(l.GetName(), '/')+1:])
	if err != nil {
		return codes.Unknown, fmt.Errorf("the name of the listener does not end with an address: %w", err)
	}
	named := map[string]*anypb.Any{}
	for _, r := range resources {
		packed := pack(r)
		named[packed.GetTypeUrl()+graph.NameOf(r.ProtoReflect())] = packed
	}
	s, err := serve(ctx, l.GetName(), address, named)
	if err != nil {
		return codes.Unknown, err
	}
	defer s.stop()
	local := address
	if address.Addr().IsUnspecified() {
		local = netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), address.Port())
	}
	conn, err := s.connect(netip.AddrPortFrom(local.Addr(), 40000), local, address.String())
	if err != nil {
		return codes.Unknown, err
	}
	defer conn.Close()
	err = conn.Invoke(ctx, Method, &emptypb.Empty{}, &emptypb.Empty{})
	if ctx.Err() != nil {
		return codes.Unknown, ctx.Err()
	}
	return status.Code(err), nil
}

// running is a server that has what a management server sent it.
type running struct {
	*pipes
	management *server
	grpc       *xds.GRPCServer
}

// serve starts a server, and waits until it serves or knows that it does not.
func serve(ctx context.Context, listener string, address netip.AddrPort, named map[string]*anypb.Any) (*running, error) {
	management, err := listen(func(kind, name string) *anypb.Any { return named[kind+name] })
	if err != nil {
		return nil, err
	}
	decided := make(chan struct{}, 1)
	s := &running{pipes: newPipes(address), management: management}
	s.grpc, err = xds.NewGRPCServer(
		xds.BootstrapContentsForTesting(bootstrap(management.address, listener, nil)), grpc.UnknownServiceHandler(answer),
		xds.ServingModeCallback(func(net.Addr, xds.ServingModeChangeArgs) {
			select {
			case decided <- struct{}{}:
			default:
			}
		}),
	)
	if err != nil {
		management.grpc.Stop()
		return nil, err
	}
	go func() { _ = s.grpc.Serve(s.pipes) }()
	select { // before it knows, the server closes connections
	case <-decided:
		return s, nil
	case <-ctx.Done():
		s.stop()
		return nil, ctx.Err()
	}
}

func (s *running) stop() {
	s.grpc.Stop()
	s.management.grpc.Stop()
}
