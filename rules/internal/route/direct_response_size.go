package route

import (
	"fmt"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/lint"
)

// maxBody is the default limit for the body of a direct response, in bytes (DEFAULT_MAX_DIRECT_RESPONSE_BODY_SIZE_BYTES).
const maxBody = 4096

var _ = Rules.Add(&lint.Rule{
	Name:     "direct-response-size",
	Severity: lint.Error,
	Summary:  "the body of a direct response is longer than the route table allows",
	Links:    []string{"DataSourceProvider::create (source/common/config/datasource.cc)"},
	Run: lint.Each(func(p *lint.Pass, at lint.At, m *routev3.DirectResponseAction) {
		if holder(at) != "envoy.config.route.v3.Route.direct_response" {
			return
		}
		field, size := "inline_string", 0
		switch body := m.GetBody().GetSpecifier().(type) {
		case *corev3.DataSource_InlineString:
			size = len(body.InlineString)
		case *corev3.DataSource_InlineBytes:
			field, size = "inline_bytes", len(body.InlineBytes)
		}
		if size == 0 {
			return
		}
		t, ok := tableOf(p, at)
		if !ok || t.config == nil {
			return
		}
		limit := maxBody
		if own := t.config.GetMaxDirectResponseBodySizeBytes(); own != nil {
			limit = int(own.GetValue())
		}
		if limit == 0 || size <= limit {
			return
		}
		p.Reject(at.Field("body", field), lint.Rejection{
			Message:  fmt.Sprintf("the body has %d bytes, but this route table allows only %d", size, limit),
			Help:     "write a shorter body, or raise max_direct_response_body_size_bytes in the route table",
			Upstream: fmt.Sprintf("response body size is %d bytes; maximum is %d", size, limit),
		})
	}),
})
