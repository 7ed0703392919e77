package http

import (
	extauthzv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_authz/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "ext-authz-http-headers",
	Severity: lint.Info,
	Summary:  "an HTTP authorization service does not see the headers of requests, such as cookie",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_filters/ext_authz_filter",
		"https://github.com/envoyproxy/envoy/issues/7338",
	},
	Run: eachConfig(func(p *lint.Pass, at lint.At, m *extauthzv3.ExtAuthz) {
		if m.GetHttpService() == nil || m.GetAllowedHeaders() != nil || m.GetHttpService().GetAuthorizationRequest().GetAllowedHeaders() != nil { //nolint:staticcheck // deprecated, and in use
			return
		}
		p.Report(at.Field("http_service").Key(), lint.Diagnostic{
			Message: "without allowed_headers, the service sees no cookie and no header of the application",
			Notes:   []string{"Envoy sends it the method, the path, host and authorization; a gRPC service gets all headers"},
			Help:    "add allowed_headers with what the service reads: {patterns: [{exact: cookie, ignore_case: true}]}; or authorization, which says that it needs no more",
		})
	}),
})
