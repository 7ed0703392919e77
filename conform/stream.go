package conform

import (
	"context"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/internal/recorder"
)

// stream is one stream of a client.
type stream struct {
	client   *client
	typeURL  string // empty: aggregated
	grpc     grpc.ClientStream
	cancel   context.CancelFunc
	recorded *recorder.StreamWriter
	asked    bool
	closed   bool // nothing of it is recorded any longer
}

// stream returns the stream for a type.
func (c *client) stream(typeURL string) *stream {
	if c.aggregated {
		typeURL = ""
	}
	if c.streams[typeURL] == nil {
		c.streams[typeURL] = c.open(typeURL)
	}
	return c.streams[typeURL]
}

// open opens a stream. An error comes from it later.
func (c *client) open(typeURL string) *stream {
	method := c.method(typeURL)
	ctx, cancel := context.WithCancel(c.ctx)
	s := &stream{client: c, typeURL: typeURL, cancel: cancel, recorded: c.out.Open(method)}
	var err error
	s.grpc, err = c.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, method)
	if err != nil {
		c.ended(arrival{from: s, err: err})
		return s
	}
	go s.receive(ctx)
	return s
}

// receive passes on what comes, until the stream has ended.
func (s *stream) receive(ctx context.Context) {
	c := s.client
	for {
		a := arrival{from: s, response: &discoveryv3.DiscoveryResponse{}}
		if c.delta {
			a.response = &discoveryv3.DeltaDiscoveryResponse{}
		}
		a.err = s.grpc.RecvMsg(a.response)
		c.awaitReading()
		select {
		case c.inbox <- a:
		case <-ctx.Done():
			return
		}
		if a.err != nil {
			return
		}
	}
}

// awaitReading waits until the client reads.
func (c *client) awaitReading() {
	c.reads <- struct{}{}
	<-c.reads
}

// send records a request and sends it. Only the first one has the node.
func (s *stream) send(q proto.Message) {
	if s.closed {
		return
	}
	if !s.asked {
		setNode(q, s.client.Node)
		s.asked = true
	}
	s.recorded.Request(marshal(q))
	sent := make(chan struct{})
	go func() {
		_ = s.grpc.SendMsg(q) // if the stream has ended, receive says why
		close(sent)
	}()
	timer := time.NewTimer(s.client.Wait)
	defer timer.Stop()
	select {
	case <-sent:
	case <-timer.C:
		s.client.note("%s: the server did not read a request for %s", s.client.transport, s.client.Wait)
		s.cancel()
		<-sent
	}
}

func setNode(q proto.Message, node *corev3.Node) {
	switch q := q.(type) {
	case *discoveryv3.DiscoveryRequest:
		q.Node = node
	case *discoveryv3.DeltaDiscoveryRequest:
		q.Node = node
	}
}

// end closes the stream.
func (s *stream) end() {
	s.cancel()
	if !s.closed {
		s.closed = true
		s.recorded.Close("OK", "")
	}
}
