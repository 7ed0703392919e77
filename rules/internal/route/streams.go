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
	upgrade bool    // in place of the rest of the connection: the timeout of the route ends with the answer 101 or 200
}

// slow are paths of services that answer for longer than usual.
var slow = []string{"/v1/chat/completions", "/v1/completions", "/v1/messages", "/v1/responses"}

// streamOf reports whether the responses of a route are or may be streams.
func streamOf(at lint.At, m *routev3.RouteMatch) (s stream, ok bool) {
	if m.GetGrpc() != nil {
		return stream{what: "gRPC responses", at: at.Field("grpc").Key()}, true
	}
	if m.GetConnectMatcher() != nil {
		return stream{what: "CONNECT tunnels", at: at.Field("connect_matcher").Key(), certain: true, upgrade: true}, true
	}
	for i, h := range m.GetHeaders() {
		text, own := h.GetStringMatch().GetExact()+h.GetStringMatch().GetPrefix(), at.Item("headers", i)
		switch {
		case h.GetInvertMatch():
		case strings.EqualFold(h.GetName(), "upgrade") && h.GetStringMatch().GetExact() != "":
			return stream{what: "upgraded connections", at: own, certain: true, upgrade: true}, true
		case strings.EqualFold(h.GetName(), "accept") && h.GetStringMatch().GetExact() == "text/event-stream":
			return stream{what: "streams of events", at: own, certain: true}, true
		case strings.EqualFold(h.GetName(), "content-type") && strings.HasPrefix(text, "application/grpc"):
			return stream{what: "gRPC responses", at: own}, true
		}
	}
	if slices.Contains(slow, m.GetPath()) {
		return stream{what: "responses of a language model", at: at.Field("path")}, true
	}
	if slices.Contains(slow, m.GetPrefix()) {
		return stream{what: "responses of a language model", at: at.Field("prefix")}, true
	}
	return s, false
}
