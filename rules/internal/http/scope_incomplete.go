package http

import (
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "scope-incomplete",
	Severity: lint.Error,
	Summary:  "an inline scope does not have a route table, or the key of the scopes cannot be built",
	Links: []string{
		"HeaderValueExtractorImpl::HeaderValueExtractorImpl (source/common/router/scoped_config_impl.cc)",
		"makeScopedRouteInfos (source/common/router/scoped_rds.cc)",
	},
	Run: each(func(p *lint.Pass, at lint.At, m *hcmv3.HttpConnectionManager) {
		scoped, own := m.GetScopedRoutes(), at.Field("scoped_routes")
		for i, f := range scoped.GetScopeKeyBuilder().GetFragments() {
			checkFragment(p, own.Field("scope_key_builder").Item("fragments", i).Field("header_value_extractor"), f.GetHeaderValueExtractor())
		}
		for i, scope := range scoped.GetScopedRouteConfigurationsList().GetScopedRouteConfigurations() {
			if scope.GetRouteConfiguration() == nil && scope.GetRouteConfigurationName() == "" {
				p.Reject(own.Field("scoped_route_configurations_list").Item("scoped_route_configurations", i), lint.Rejection{
					Message:  "the scope does not have a route table",
					Help:     "add route_configuration",
					Upstream: "You must specify a route_configuration with inline scoped routes",
				})
			}
		}
	}),
})

func checkFragment(p *lint.Pass, at lint.At, f *hcmv3.ScopedRoutes_ScopeKeyBuilder_FragmentBuilder_HeaderValueExtractor) {
	if f == nil {
		return // violates a constraint
	}
	if f.GetExtractType() == nil {
		p.Reject(at, lint.Rejection{
			Message:  "the fragment does not select a part of the header",
			Help:     "add index: 0 for the whole value, or element",
			Upstream: "HeaderValueExtractor extract_type not set",
		})
	}
	if f.GetElementSeparator() == "" && f.GetIndex() > 0 {
		p.Reject(at.Field("index"), lint.Rejection{
			Message:  "without element_separator, the only index is 0",
			Help:     "add element_separator, or write index: 0",
			Upstream: "Index > 0 for empty string element separator",
		})
	}
}
