package grpctest

import (
	"context"
	"net"

	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/xdslint/xdslint/graph"
)

// Method is the method that Call calls.
const Method = "/shop.Orders/Get"

// Call sends an RPC, and returns its status. It serves the resources to a client, and those of a standard chain for types of which there is none;
// the endpoints get the addresses of a server that answers each RPC. If the first resource is a listener of a server, it serves that to one.
func Call(ctx context.Context, resources []proto.Message) (codes.Code, error) {
	if l, ok := resources[0].(*listenerv3.Listener); ok && l.GetApiListener() == nil {
		return callServer(ctx, l, resources)
	}
	b := &backend{server: grpc.NewServer(grpc.UnknownServiceHandler(answer))}
	defer b.server.Stop()
	w := world{named: map[string]*anypb.Any{}, first: map[string]string{}}
	for _, r := range resources {
		if err := w.add(b, proto.Clone(r)); err != nil {
			return codes.Unknown, err
		}
	}
	var err error
	if w.end, err = b.listen(); err != nil {
		return codes.Unknown, err
	}
	c, err := start(w.serve, w.name(listenerType), nil)
	if err != nil {
		return codes.Unknown, err
	}
	defer c.Close()
	err = c.conn.Invoke(ctx, Method, &emptypb.Empty{}, &emptypb.Empty{})
	if ctx.Err() != nil {
		return codes.Unknown, ctx.Err()
	}
	return status.Code(err), nil
}

func answer(_ any, stream grpc.ServerStream) error {
	request := &emptypb.Empty{}
	if err := stream.RecvMsg(request); err != nil {
		return err
	}
	return stream.SendMsg(request)
}

// backend is one server on many addresses.
type backend struct{ server *grpc.Server }

func (b *backend) listen() (*endpoint, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	go func() { _ = b.server.Serve(l) }()
	return endpointAt(l), nil
}

func endpointAt(l net.Listener) *endpoint {
	address := l.Addr().(*net.TCPAddr)
	return &endpoint{address.IP.String(), uint32(address.Port)} //nolint:gosec // a port
}

// move gives the endpoints of a load assignment addresses of the backend.
func (b *backend) move(load *endpointv3.ClusterLoadAssignment) error {
	for _, l := range load.GetEndpoints() {
		for _, e := range l.GetLbEndpoints() {
			if e.GetEndpoint().GetAddress().GetSocketAddress() == nil {
				continue
			}
			to, err := b.listen()
			if err != nil {
				return err
			}
			e.GetEndpoint().Address = socket(to)
		}
	}
	return nil
}

// world is what a management server has.
type world struct {
	named map[string]*anypb.Any // by type and name
	first map[string]string     // the name of the first resource of a type
	end   *endpoint
}

func (w *world) add(b *backend, m proto.Message) error {
	if load, ok := m.(*endpointv3.ClusterLoadAssignment); ok {
		if err := b.move(load); err != nil {
			return err
		}
	}
	packed, name := pack(m), graph.NameOf(m.ProtoReflect())
	w.named[packed.GetTypeUrl()+name] = packed
	if w.first[packed.GetTypeUrl()] == "" {
		w.first[packed.GetTypeUrl()] = name
	}
	return nil
}

// name returns the name of the resource of a type that leads to the first given one.
func (w *world) name(kind string) string {
	switch name := w.first[kind]; {
	case name != "":
		return name
	case kind == clusterType && w.first[endpointType] != "":
		return w.first[endpointType]
	}
	return listenerName
}

func (w *world) serve(kind, name string) *anypb.Any {
	if given := w.named[kind+name]; given != nil || w.first[kind] != "" {
		return given
	}
	next := map[string]string{listenerType: w.name(routeType), routeType: w.name(clusterType)}
	return standard(kind, name, next[kind], w.end)
}
