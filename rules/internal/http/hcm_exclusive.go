package http

import (
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "hcm-exclusive",
	Severity: lint.Error,
	Summary:  "a connection manager has fields that cannot be combined, or one that is for clusters",
	Links:    []string{"HttpConnectionManagerConfig::HttpConnectionManagerConfig (source/extensions/filters/network/http_connection_manager/config.cc)"},
	Run: each(func(p *lint.Pass, at lint.At, m *hcmv3.HttpConnectionManager) {
		for _, c := range conflicts(m) {
			if !c.is {
				continue
			}
			d := lint.Diagnostic{Message: c.message, Notes: []string{envoy.OnReject(at.Resource())}, Help: c.help, Rejected: true, Upstream: c.upstream}
			if c.other != "" {
				d.Related = []lint.Related{lint.RelatedTo(at.Field(c.other).Key(), "the other one")}
			}
			p.Report(at.Field(c.fields...).Key(), d)
		}
	}),
})

type conflict struct {
	is       bool
	fields   []string
	other    string
	message  string
	help     string
	upstream string
}

func conflicts(m *hcmv3.HttpConnectionManager) []conflict {
	detects := len(m.GetOriginalIpDetectionExtensions()) > 0
	const (
		detection = "original_ip_detection_extensions"
		toXFF     = "keep one of them: xff_num_trusted_hops is also a field of the extension envoy.http.original_ip_detection.xff"
		toOptions = "move it to access_log_options"
	)
	return []conflict{
		{
			is:       m.GetCommonHttpProtocolOptions().GetMaxResponseHeadersKb() != nil,
			fields:   []string{"common_http_protocol_options", "max_response_headers_kb"},
			message:  "max_response_headers_kb is for clusters, not for a connection manager",
			help:     "move it to the HttpProtocolOptions of the clusters",
			upstream: "max_response_headers_kb cannot be set on http_connection_manager",
		},
		{
			is:     m.GetStripAnyHostPort() && m.GetStripMatchingHostPort(),
			fields: []string{"strip_matching_host_port"}, other: "strip_any_host_port",
			message:  "strip_matching_host_port cannot be combined with strip_any_host_port",
			help:     "keep strip_any_host_port to remove every port, or strip_matching_host_port to remove only the listener's port",
			upstream: "Only one of `strip_matching_host_port` or `strip_any_host_port` can be set",
		},
		{
			is:     detects && m.GetUseRemoteAddress().GetValue(),
			fields: []string{"use_remote_address"}, other: detection,
			message:  "use_remote_address cannot be combined with original_ip_detection_extensions",
			help:     "keep one of them",
			upstream: "Original IP detection extensions and use_remote_address may not be mixed",
		},
		{
			is:     detects && m.GetXffNumTrustedHops() > 0,
			fields: []string{"xff_num_trusted_hops"}, other: detection,
			message:  "xff_num_trusted_hops cannot be combined with original_ip_detection_extensions",
			help:     toXFF,
			upstream: "Original IP detection extensions and xff_num_trusted_hops may not be mixed",
		},
		{
			is:     m.GetAccessLogOptions() != nil && m.GetFlushAccessLogOnNewRequest(), //nolint:staticcheck // deprecated, and that is the point
			fields: []string{"flush_access_log_on_new_request"}, other: "access_log_options",
			message:  "flush_access_log_on_new_request cannot be combined with access_log_options",
			help:     toOptions,
			upstream: "Only one of flush_access_log_on_new_request or access_log_options can be specified",
		},
		{
			is:     m.GetAccessLogOptions() != nil && m.GetAccessLogFlushInterval() != nil, //nolint:staticcheck // deprecated, and that is the point
			fields: []string{"access_log_flush_interval"}, other: "access_log_options",
			message:  "access_log_flush_interval cannot be combined with access_log_options",
			help:     toOptions,
			upstream: "Only one of access_log_flush_interval or access_log_options can be specified",
		},
	}
}
