package hardening

import (
	"fmt"
	"strings"

	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

// recommendedHTTP2 are the limits of the documentation.
var recommendedHTTP2 = map[string]int{"max_concurrent_streams": 100, "initial_stream_window_size": 65536, "initial_connection_window_size": 1048576}

var _ = Rules.Add(&lint.Rule{
	Name:     "h2-limits",
	Profiles: map[lint.Profile]lint.Severity{lint.Edge: lint.Info},
	Summary:  "an HTTP/2 client can make Envoy hold more than the documentation recommends",
	Links: []string{
		edgeDocs,
		"Utility::initializeAndValidateOptions (source/common/http/utility.cc)",
	},
	Run: eachManager(func(p *lint.Pass, at lint.At, m *hcmv3.HttpConnectionManager) {
		if m.GetCodecType() != hcmv3.HttpConnectionManager_AUTO && m.GetCodecType() != hcmv3.HttpConnectionManager_HTTP2 {
			return
		}
		var values []string
		var fields lint.Fields
		var d lint.Diagnostic
		for _, limit := range envoy.HTTP2LimitsOf(p.Target, envoy.RuntimeOf(p.Snapshot), m.GetHttp2ProtocolOptions()) {
			value := recommendedHTTP2[limit.Field]
			if int(limit.Value) <= value {
				continue
			}
			values = append(values, fmt.Sprintf("%s is %d", limit.Field, limit.Value))
			fields = append(fields, lint.Entry{Name: limit.Field, Value: value})
			if limit.Value > limit.Safe {
				d.Severity = lint.Warning
			}
		}
		if len(values) == 0 {
			return
		}
		d.Message = strings.Join(values, ", ")
		d.Notes = []string{"a client can use all of that with each of its connections"}
		d.Help = "set max_concurrent_streams: 100, initial_stream_window_size: 65536 and initial_connection_window_size: 1048576"
		d.Fixes = writeIn(at, "http2_protocol_options", fields).Likely("use the documented limits")
		p.Report(at.Field("http2_protocol_options"), d)
	}),
})
