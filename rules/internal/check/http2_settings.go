package check

import (
	"fmt"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/xdslint/xdslint/lint"
)

// The identifiers with special treatment in Envoy.
const (
	headerTableSize       = 1
	enablePush            = 2
	maxConcurrentStreams  = 3
	initialWindowSize     = 4
	enableConnectProtocol = 8
)

// HTTP2Settings reports invalid custom SETTINGS of HTTP/2 (validateCustomSettingsParameters).
func HTTP2Settings(p *lint.Pass, at lint.At, options *corev3.Http2ProtocolOptions) {
	named := map[uint32]struct {
		field string
		is    bool
	}{
		headerTableSize:      {"hpack_table_size", options.GetHpackTableSize() != nil},
		maxConcurrentStreams: {"max_concurrent_streams", options.GetMaxConcurrentStreams() != nil},
		initialWindowSize:    {"initial_stream_window_size", options.GetInitialStreamWindowSize() != nil},
	}
	first := map[uint32]int{}
	settings := options.GetCustomSettingsParameters()
	for i, s := range settings {
		own, id, value := at.Item("custom_settings_parameters", i), s.GetIdentifier().GetValue(), s.GetValue().GetValue()
		before, twice := first[id]
		if !twice {
			first[id] = i
		}
		switch {
		case id == enableConnectProtocol:
			p.Reject(own.Field("identifier"), lint.Rejection{
				Message:  "setting 8 (ENABLE_CONNECT_PROTOCOL) cannot be a custom setting",
				Help:     "write allow_connect: true instead",
				Upstream: `the "allow_connect" SETTINGS parameter must only be configured through the named field`,
			})
		case id == enablePush && value == 1:
			p.Reject(own.Field("value"), lint.Rejection{
				Message:  "setting 2 (ENABLE_PUSH) enables server push, which Envoy does not support",
				Help:     "remove it",
				Upstream: "server push is not supported by Envoy and can not be enabled via a SETTINGS parameter",
			})
		case named[id].is:
			p.Reject(own.Field("identifier"), lint.Rejection{
				Message: fmt.Sprintf("setting %d is also set by %s", id, named[id].field),
				Help:    "keep the named field",
				Upstream: fmt.Sprintf("the {%s} HTTP/2 SETTINGS parameter(s) can not be configured through both named and custom parameters",
					named[id].field),
				Related: []lint.Related{lint.RelatedTo(at.Field(named[id].field), "the named field")},
			})
		case twice && settings[before].GetValue().GetValue() != value:
			p.Reject(own.Field("value"), lint.Rejection{
				Message:  fmt.Sprintf("setting %d is also set above, to another value", id),
				Help:     "keep one of them",
				Upstream: fmt.Sprintf("inconsistent HTTP/2 custom SETTINGS parameter(s) detected; identifiers = {0x%02x}", id),
				Related:  []lint.Related{lint.RelatedTo(at.Item("custom_settings_parameters", before), "the first one")},
			})
		}
	}
}

// HeaderFieldSize reports a limit for one header that is above the limit for all headers together, in KiB. That one is in the field all.
func HeaderFieldSize(p *lint.Pass, at lint.At, options *corev3.Http2ProtocolOptions, limit uint32, all string) {
	if size := options.GetMaxHeaderFieldSizeKb().GetValue(); size > limit && !p.Target.Before("1.38") {
		p.Reject(at.Field("max_header_field_size_kb"), lint.Rejection{
			Message:  fmt.Sprintf("one header may have %d KiB, but all headers together only %d", size, limit),
			Help:     fmt.Sprintf("write a %s of at least %d", all, size),
			Upstream: "max_header_field_size_kb must not exceed " + all,
		})
	}
}
