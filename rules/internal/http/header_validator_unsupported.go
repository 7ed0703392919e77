package http

import (
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "header-validator-unsupported",
	Severity: lint.Error,
	Summary:  "a connection manager names a header validator, which Envoy's build does not have",
	Links:    []string{"createHeaderValidatorFactory (source/extensions/filters/network/http_connection_manager/config.cc)"},
	Run: each(func(p *lint.Pass, at lint.At, m *hcmv3.HttpConnectionManager) {
		if m.GetTypedHeaderValidationConfig() != nil {
			p.Reject(at.Field("typed_header_validation_config").Key(), lint.Rejection{
				Message:  "this build of Envoy does not have header validators",
				Help:     "remove it",
				Upstream: "This Envoy binary does not support header validator extensions",
			})
		}
	}),
})
