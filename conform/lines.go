package conform

import (
	"context"
	"slices"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/internal/protocol"
	"github.com/xdslint/xdslint/internal/recorder"
	"github.com/xdslint/xdslint/internal/recording"
)

// line is a stream of a client, as its management server sees it.
type line struct {
	protocol.Opened
	host     *host
	method   string
	out      chan reply
	recorded *recorder.StreamWriter
	watches  map[string]*watch // by type
	ordered  []*watch
	closed   bool
}

// reply is a response, or how the stream ends.
type reply struct {
	response proto.Message
	end      *status.Status
}

// visit is what a client does: it opens a stream, sends a request or ends the stream.
type visit struct {
	from    *line
	request proto.Message
	closed  bool
}

// serve handles one call of a client.
func (h *host) serve(_ any, st grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(st)
	opened, ok := recording.Stream(method)
	if !ok || opened.REST {
		return status.Error(codes.Unimplemented, "xdslint conform serves xDS")
	}
	s := &line{Opened: opened, host: h, method: method, out: make(chan reply, endless), watches: map[string]*watch{}}
	if !h.visit(st.Context(), visit{from: s}) {
		return status.Error(codes.Unavailable, "xdslint conform has ended")
	}
	go s.receive(st)
	for {
		select {
		case r := <-s.out:
			if r.end != nil {
				return r.end.Err()
			}
			if err := st.SendMsg(r.response); err != nil {
				return err
			}
		case <-st.Context().Done():
			return st.Context().Err()
		}
	}
}

func (h *host) visit(ctx context.Context, v visit) bool {
	select {
	case h.inbox <- v:
		return true
	case <-ctx.Done():
		return false
	case <-h.ctx.Done():
		return false
	}
}

// receive passes on what the client sends, and that it has ended the stream.
func (s *line) receive(st grpc.ServerStream) {
	for {
		var q proto.Message = &discoveryv3.DiscoveryRequest{}
		if s.Delta {
			q = &discoveryv3.DeltaDiscoveryRequest{}
		}
		if err := st.RecvMsg(q); err != nil {
			s.host.visit(context.Background(), visit{from: s, closed: true})
			return
		}
		if !s.host.visit(st.Context(), visit{from: s, request: q}) {
			s.host.visit(context.Background(), visit{from: s, closed: true})
			return
		}
	}
}

// take records what a client does, and answers it.
func (h *host) take(v visit) {
	s := v.from
	switch {
	case s.closed:
	case v.closed:
		s.close("Canceled", "")
	case v.request == nil:
		s.recorded = h.out.Open(s.method)
		h.streams = append(h.streams, s)
	default:
		raw := marshal(v.request)
		h.heard += len(raw)
		s.recorded.Request(raw)
		s.request(v.request)
	}
}

// close notes that a stream has ended.
func (s *line) close(code, message string) {
	h := s.host
	s.closed = true
	s.recorded.Close(code, message)
	h.streams = slices.DeleteFunc(h.streams, func(other *line) bool { return other == s })
}

// hangUp ends all streams.
func (h *host) hangUp() {
	for _, s := range slices.Clone(h.streams) {
		s.hangUp("xdslint conform ends the stream on purpose")
	}
}

func (s *line) hangUp(why string) {
	end := status.New(codes.Unavailable, why)
	s.close(end.Code().String(), end.Message())
	s.pass(reply{end: end})
}

// pass sends a reply, unless the client has not read for long.
func (s *line) pass(r reply) {
	select {
	case s.out <- r:
	default:
	}
}

// request answers a request.
func (s *line) request(q proto.Message) {
	h := s.host
	url := s.TypeURL
	if url == "" {
		url = q.(interface{ GetTypeUrl() string }).GetTypeUrl()
	}
	if h.rejects {
		h.ended++
		s.hangUp("xdslint conform does not answer on purpose")
		return
	}
	if url == "" {
		return // it asks for nothing that is known
	}
	w := s.watches[url]
	if w == nil {
		w = &watch{line: s, typeURL: url, sent: map[string]string{}}
		s.watches[url] = w
		s.ordered = append(s.ordered, w)
		h.ask(over(s.Opened), url)
	}
	switch q := q.(type) {
	case *discoveryv3.DiscoveryRequest:
		w.sotw(q)
	case *discoveryv3.DeltaDiscoveryRequest:
		w.delta(q)
	}
}

// mostTypes is how many types the report has of a transport.
const mostTypes = 50

// ask notes that a type was asked for.
func (h *host) ask(t transport, url string) {
	if h.asked == nil {
		h.asked = map[transport][]string{}
	}
	if !slices.Contains(h.asked[t], url) && len(h.asked[t]) < mostTypes {
		h.asked[t] = append(h.asked[t], url)
	}
}
