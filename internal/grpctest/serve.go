package grpctest

import (
	"context"
	"net"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/xds"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/emptypb"
)

// callServer starts a server of gRPC that gets a listener from a management server, and sends it an RPC. The listener gets the address of the
// server.
func callServer(ctx context.Context, l *listenerv3.Listener) (codes.Code, error) {
	socketAt, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return codes.Unknown, err
	}
	l = proto.CloneOf(l)
	l.Address = socket(endpointAt(socketAt))
	management, err := listen(func(kind, name string) *anypb.Any {
		if kind == listenerType && name == l.GetName() {
			return pack(l)
		}
		return nil
	})
	if err != nil {
		return codes.Unknown, err
	}
	defer management.grpc.Stop()
	serving := make(chan struct{})
	s, err := xds.NewGRPCServer(
		xds.BootstrapContentsForTesting(bootstrap(management.address, l.GetName(), nil)), grpc.UnknownServiceHandler(answer),
		xds.ServingModeCallback(func(_ net.Addr, now xds.ServingModeChangeArgs) {
			if now.Mode == connectivity.ServingModeServing {
				close(serving)
			}
		}),
	)
	if err != nil {
		return codes.Unknown, err
	}
	defer s.Stop()
	go func() { _ = s.Serve(socketAt) }()
	conn, err := grpc.NewClient(socketAt.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return codes.Unknown, err
	}
	defer conn.Close()
	select { // until it has the listener, the server closes connections
	case <-serving:
	case <-ctx.Done():
		return codes.Unknown, ctx.Err()
	}
	err = conn.Invoke(ctx, Method, &emptypb.Empty{}, &emptypb.Empty{})
	if ctx.Err() != nil {
		return codes.Unknown, ctx.Err()
	}
	return status.Code(err), nil
}
