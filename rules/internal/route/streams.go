package route

import (
	"slices"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/lint"
)

// stream is what the match of a route says about how long its responses take.
type stream struct {
	what    string  // "gRPC responses"
	at      lint.At // what says so
	certain bool    // each of them is a stream
}

// slow are paths of services that answer for longer than usual.
var slow = []string{"/v1/chat/completions", "/v1/completions", "/v1/messages", "/v1/responses"}

// streamOf reports whether the responses of a route are or may be streams.
func streamOf(at lint.At, m *routev3.RouteMatch) (s stream, ok bool) {
	if m.GetGrpc() != nil {
		return stream{"gRPC responses", at.Field("grpc").Key(), false}, true
	}
	for i, h := range m.GetHeaders() {
		text, own := h.GetStringMatch().GetExact()+h.GetStringMatch().GetPrefix(), at.Item("headers", i)
		switch {
		case h.GetInvertMatch():
		case strings.EqualFold(h.GetName(), "accept") && h.GetStringMatch().GetExact() == "text/event-stream":
			return stream{"streams of events", own, true}, true
		case strings.EqualFold(h.GetName(), "content-type") && strings.HasPrefix(text, "application/grpc"):
			return stream{"gRPC responses", own, false}, true
		}
	}
	if slices.Contains(slow, m.GetPath()) {
		return stream{"responses of a language model", at.Field("path"), false}, true
	}
	if slices.Contains(slow, m.GetPrefix()) {
		return stream{"responses of a language model", at.Field("prefix"), false}, true
	}
	return s, false
}
