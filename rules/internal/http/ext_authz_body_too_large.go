package http

import (
	"fmt"

	extauthzv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_authz/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "ext-authz-body-too-large",
	Severity: lint.Info,
	Summary:  "ext_authz rejects requests whose body is larger than what it sends to the authorization service",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/extensions/filters/http/ext_authz/v3/ext_authz.proto#extensions-filters-http-ext-authz-v3-buffersettings",
		"https://github.com/envoyproxy/envoy/issues/7404",
	},
	Run: eachConfig(func(p *lint.Pass, at lint.At, m *extauthzv3.BufferSettings) {
		if m.GetAllowPartialMessage() || m.GetMaxRequestBytes() == 0 {
			return
		}
		p.Report(at.Field("max_request_bytes"), lint.Diagnostic{
			Message: fmt.Sprintf("requests with a body of more than %d bytes get 413", m.GetMaxRequestBytes()),
			Notes:   []string{"without allow_partial_message, Envoy waits for the whole body and rejects what does not fit, also uploads that need no inspection"},
			Help:    "add allow_partial_message: true if the service does not need the whole body",
			Fixes:   lint.Insert(at, "allow_partial_message", true).Likely("add allow_partial_message: true"),
		})
	}),
})
