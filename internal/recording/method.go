package recording

import (
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/calls"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/protocol"
)

// Stream says what a gRPC method opens: a stream of xDS, or something else. The polls of a client at a path of REST count
// as a stream.
func Stream(method string) (opened protocol.Opened, ok bool) {
	if kind, ok := calls.Polled(method); ok {
		return protocol.Opened{REST: true, TypeURL: graph.TypeURL(kind)}, true
	}
	kind, delta, ok := calls.Stream(method)
	return protocol.Opened{Delta: delta, TypeURL: graph.TypeURL(kind)}, ok
}

// Method returns the gRPC method that opens a stream.
func Method(o protocol.Opened) string {
	return calls.Method(graph.KindOf(decode.TypeName(o.TypeURL)), o.Delta)
}
