package pull

import (
	"context"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/calls"
)

// streams are an aggregated stream, or one for each kind.
type streams struct {
	*subscriptions
	ctx      context.Context
	conn     *grpc.ClientConn
	opened   map[graph.Kind]grpc.ClientStream // the aggregated one has an empty kind
	incoming chan arrival
}

// arrival is what a stream has brought, or why it has ended.
type arrival struct {
	kind graph.Kind
	m    proto.Message
	err  error
}

func newStreams(ctx context.Context, conn *grpc.ClientConn, subs *subscriptions) *streams {
	return &streams{subs, ctx, conn, map[graph.Kind]grpc.ClientStream{}, make(chan arrival)}
}

// send sends a request for a kind.
func (s *streams) send(kind graph.Kind, q proto.Message) error {
	if !s.separate {
		kind = ""
	}
	st := s.opened[kind]
	if st == nil {
		var err error
		desc := &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}
		if st, err = s.conn.NewStream(s.ctx, desc, calls.Method(kind, s.delta)); err != nil {
			return err
		}
		s.opened[kind] = st
		go s.read(kind, st)
	}
	return st.SendMsg(q)
}

// read passes on what a stream brings, until it ends.
func (s *streams) read(kind graph.Kind, st grpc.ClientStream) {
	for {
		var m proto.Message = &discoveryv3.DiscoveryResponse{}
		if s.delta {
			m = &discoveryv3.DeltaDiscoveryResponse{}
		}
		a := arrival{kind: kind, m: m}
		if err := st.RecvMsg(m); err != nil {
			a = arrival{kind: kind, err: err}
		}
		select {
		case s.incoming <- a:
		case <-s.ctx.Done():
			return
		}
		if a.err != nil {
			return
		}
	}
}

// message returns what has arrived. A server need not serve every kind over a stream of its own.
func (a arrival) message() (message, error) {
	switch p := a.m.(type) {
	case *discoveryv3.DiscoveryResponse:
		return message{stateOfTheWorld(p), p.GetNonce()}, nil
	case *discoveryv3.DeltaDiscoveryResponse:
		return message{changes(p), p.GetNonce()}, nil
	}
	if a.kind != "" && status.Code(a.err) == codes.Unimplemented {
		return message{response: response{url: graph.TypeURL(a.kind), unserved: a.err}}, nil
	}
	return message{}, a.err
}
