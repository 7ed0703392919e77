package health

import (
	"encoding/hex"
	"fmt"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/each"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "hc-invalid",
	Severity: lint.Error,
	Summary:  "a health check has invalid status codes, a payload that is not hexadecimal, or a payload that its method cannot send",
	Links: []string{
		"HttpHealthCheckerImpl (source/extensions/health_checkers/http/health_checker_impl.cc)",
		"PayloadMatcher::loadProtoBytes (source/common/upstream/health_checker_impl.cc)",
	},
	Run: each.Cluster(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		for i, check := range c.GetHealthChecks() {
			at := at.Item("health_checks", i)
			if h := check.GetHttpHealthCheck(); h != nil {
				checkHTTP(p, at.Field("http_health_check"), h)
			}
			if t := check.GetTcpHealthCheck(); t != nil {
				at := at.Field("tcp_health_check")
				if t.GetSend() != nil {
					checkPayload(p, at.Field("send"), t.GetSend())
				}
				for i, receive := range t.GetReceive() {
					checkPayload(p, at.Item("receive", i), receive)
				}
			}
		}
	}),
})

func checkHTTP(p *lint.Pass, at lint.At, h *corev3.HealthCheck_HttpHealthCheck) {
	for i, r := range h.GetExpectedStatuses() {
		checkRange(p, at.Item("expected_statuses", i), r, "expected")
	}
	for i, r := range h.GetRetriableStatuses() {
		checkRange(p, at.Item("retriable_statuses", i), r, "retriable")
	}
	if h.GetSend() != nil {
		method := h.GetMethod()
		if method == corev3.RequestMethod_METHOD_UNSPECIFIED {
			method = corev3.RequestMethod_GET
		}
		switch method {
		case corev3.RequestMethod_GET, corev3.RequestMethod_HEAD, corev3.RequestMethod_DELETE, corev3.RequestMethod_TRACE:
			p.Reject(at.Field("send").Key(), lint.Rejection{
				Message:  fmt.Sprintf("a %s request cannot have a body", method),
				Help:     "write method: POST, PUT, PATCH or OPTIONS, or remove send",
				Upstream: fmt.Sprintf("HTTP health check cannot specify a request payload with method '%s'", method),
			})
		}
		checkPayload(p, at.Field("send"), h.GetSend())
	}
	total, known := uint64(0), true
	for i, receive := range h.GetReceive() {
		size, ok := checkPayload(p, at.Item("receive", i), receive)
		total, known = total+uint64(size), known && ok
	}
	if buffer := envoy.ValueOr(h.GetResponseBufferSize(), 1024); known && buffer != 0 && total > buffer {
		p.Reject(at.Field("receive"), lint.Rejection{
			Message:  fmt.Sprintf("the expected body has %d bytes, but only %d bytes of a response are kept", total, buffer),
			Help:     fmt.Sprintf("write response_buffer_size: %d, or 0 for no limit", total),
			Upstream: fmt.Sprintf("The expected response length '%d' is over than http health response buffer size '%d'", total, buffer),
		})
	}
}

// checkRange follows HttpStatusChecker::validateRange, which treats the numbers as unsigned.
func checkRange(p *lint.Pass, at lint.At, r *typev3.Int64Range, what string) {
	start, end := uint64(r.GetStart()), uint64(r.GetEnd())
	switch {
	case start >= end:
		p.Reject(at, lint.Rejection{
			Message:  fmt.Sprintf("the range from %d to %d (exclusive) does not contain a status code", r.GetStart(), r.GetEnd()),
			Help:     "end is not part of the range: write the last status code plus 1 as end",
			Upstream: fmt.Sprintf("Invalid http %s status range: expecting start < end, but found start=%d and end=%d", what, start, end),
		})
	case start < 100:
		p.Reject(at.Field("start"), lint.Rejection{
			Message:  "status codes begin at 100",
			Help:     "write 100 or more",
			Upstream: fmt.Sprintf("Invalid http %s status range: expecting start >= 100, but found start=%d", what, start),
		})
	case end > 600:
		p.Reject(at.Field("end"), lint.Rejection{
			Message:  "the end of a range of status codes must not be above 600",
			Help:     "write 600 to include all status codes up to 599",
			Upstream: fmt.Sprintf("Invalid http %s status range: expecting end <= 600, but found end=%d", what, end),
		})
	}
}

// checkPayload returns the number of bytes that a payload represents.
func checkPayload(p *lint.Pass, at lint.At, payload *corev3.HealthCheck_Payload) (size int, ok bool) {
	text, isText := payload.GetPayload().(*corev3.HealthCheck_Payload_Text)
	if !isText {
		return len(payload.GetBinary()), true
	}
	bytes, err := hex.DecodeString(text.Text)
	if err != nil {
		encoded := hex.EncodeToString([]byte(text.Text))
		p.Reject(at.Field("text"), lint.Rejection{
			Message:  fmt.Sprintf("%q is not hexadecimal", text.Text),
			Help:     fmt.Sprintf("to match these characters, write %q", encoded),
			Upstream: fmt.Sprintf("invalid hex string '%s'", text.Text),
			Fixes:    lint.Replace(at.Field("text"), encoded).Likely("write the characters in hexadecimal"),
		})
		return 0, false
	}
	return len(bytes), true
}
