package envoy

import (
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/xdslint/xdslint/dataplane"
)

// HTTP2Limit is a limit of HTTP/2 connections, and its value.
type HTTP2Limit struct {
	Field string
	Value uint32
	Safe  uint32 // the default since 1.36
}

// HTTP2LimitsOf returns the limits on what a client can make Envoy hold for a connection (Http2::Utility::initializeAndValidateOptions in
// source/common/http/utility.cc).
func HTTP2LimitsOf(t dataplane.Target, r Runtime, o *corev3.Http2ProtocolOptions) []HTTP2Limit {
	const mega = 1 << 20
	old := t.Before("1.36") || !r.Guard("envoy.reloadable_features.safe_http2_options", true)
	limit := func(field string, v *wrapperspb.UInt32Value, safe, before uint32) HTTP2Limit {
		switch {
		case v != nil:
			return HTTP2Limit{field, v.GetValue(), safe}
		case old:
			return HTTP2Limit{field, before, safe}
		}
		return HTTP2Limit{field, safe, safe}
	}
	return []HTTP2Limit{
		limit("max_concurrent_streams", o.GetMaxConcurrentStreams(), 1024, 1<<31-1),
		limit("initial_stream_window_size", o.GetInitialStreamWindowSize(), 16*mega, 256*mega),
		limit("initial_connection_window_size", o.GetInitialConnectionWindowSize(), 24*mega, 256*mega),
	}
}
