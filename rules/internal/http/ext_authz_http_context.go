package http

import (
	"maps"
	"slices"

	extauthzv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_authz/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/managers"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "ext-authz-http-context",
	Severity: lint.Warning,
	Summary:  "an HTTP authorization service is to get context_extensions or metadata, which Envoy sends only over gRPC",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/extensions/filters/http/ext_authz/v3/ext_authz.proto#envoy-v3-api-field-extensions-filters-http-ext-authz-v3-checksettings-context-extensions",
		"RawHttpClientImpl::check (source/extensions/filters/common/ext_authz/ext_authz_http_impl.cc)",
	},
	Run: managers.All(func(p *lint.Pass, all []managers.Manager) {
		for _, m := range all {
			for _, f := range m.Filters {
				if config, ok := f.Config.(*extauthzv3.ExtAuthz); ok && config.GetHttpService() != nil && len(config.GetMetadataContextNamespaces()) > 0 {
					reportUnsent(p, f.Own.Field("metadata_context_namespaces").Key())
				}
			}
		}
		managers.EachLevel(p, func(l *envoy.RouteLevel, users []managers.Manager) {
			for _, name := range slices.Sorted(maps.Keys(l.Configs)) {
				s := l.Filter(name, false)
				own, _ := s.Config.(*extauthzv3.ExtAuthzPerRoute)
				settings := own.GetCheckSettings()
				if len(settings.GetContextExtensions()) > 0 && settings.GetServiceOverride() == nil && onlyOverHTTP(name, users) {
					reportUnsent(p, s.At.Field("check_settings", "context_extensions").Key())
				}
			}
		})
	}),
})

func reportUnsent(p *lint.Pass, at lint.At) {
	p.Report(at, lint.Diagnostic{
		Message: "the authorization service does not get this: it is an HTTP service",
		Notes:   []string{"over HTTP, Envoy sends the method, the path and headers of the request; context_extensions and metadata are parts of the message for gRPC"},
		Help:    "call the service over gRPC, or send fixed values by authorization_request.headers_to_add",
	})
}

// onlyOverHTTP reports whether all ext_authz filters of a name call an HTTP service, and there is one.
func onlyOverHTTP(name string, users []managers.Manager) bool {
	found := false
	for _, m := range users {
		for _, f := range m.Filters {
			if f.Message.GetName() != name {
				continue
			}
			if config, ok := f.Config.(*extauthzv3.ExtAuthz); !ok || config.GetHttpService() == nil {
				return false
			}
			found = true
		}
	}
	return found
}
