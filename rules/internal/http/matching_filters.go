package http

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

// filterMatcher says what the matcher of a filter takes.
type filterMatcher struct {
	inputs  string                  // the category
	not     []protoreflect.FullName // inputs that the filter itself excludes
	actions []string                // types, or the beginnings of their names
	stops   bool                    // keep_matching is an error
}

// matchingFilters are what has a matcher whose actions are known.
var matchingFilters = map[protoreflect.FullName]filterMatcher{
	"envoy.extensions.filters.http.rbac.v3.RBAC": {
		"envoy.matching.http.input",
		[]protoreflect.FullName{
			"envoy.type.matcher.v3.HttpRequestTrailerMatchInput", "envoy.type.matcher.v3.HttpResponseHeaderMatchInput",
			"envoy.type.matcher.v3.HttpRequestQueryParamMatchInput", "envoy.type.matcher.v3.HttpResponseStatusCodeMatchInput",
			"envoy.type.matcher.v3.HttpResponseStatusCodeClassMatchInput",
		},
		[]string{"envoy.config.rbac.v3.Action"},
		true,
	},
	"envoy.extensions.filters.network.rbac.v3.RBAC": {"envoy.matching.network.input", nil, []string{"envoy.config.rbac.v3.Action"}, true},
	"envoy.extensions.filters.network.generic_proxy.v3.RouteConfiguration": {
		"envoy.matching.generic_proxy_request_input.input", nil, []string{genericAction}, true,
	},
	"envoy.extensions.filters.network.generic_proxy.v3.VirtualHost": {
		"envoy.matching.generic_proxy_request_input.input", nil, []string{genericAction}, true,
	},
	"envoy.extensions.filters.http.custom_response.v3.CustomResponse": {
		"envoy.matching.http.input", nil, []string{"envoy.extensions.http.custom_response."}, false,
	},
	"envoy.extensions.filters.http.rate_limit_quota.v3.RateLimitQuotaFilterConfig": {
		"envoy.matching.http.input", nil, []string{"envoy.extensions.filters.http.rate_limit_quota.v3.RateLimitQuotaBucketSettings"}, false,
	},
	"envoy.extensions.filters.http.bandwidth_share.v3.BandwidthShare": {
		"envoy.matching.http.input", nil, []string{"google.protobuf.StringValue", "envoy.config.core.v3.SubstitutionFormatString"}, false,
	},
	"envoy.config.cluster.v3.Cluster": {
		"envoy.matching.transport_socket.input", nil, []string{"envoy.extensions.matching.common_inputs.transport_socket.v3.TransportSocketNameAction"}, false,
	},
	"envoy.extensions.filters.udp.udp_proxy.v3.UdpProxyConfig": {
		"envoy.matching.network.input", nil, []string{"envoy.extensions.filters.udp.udp_proxy.v3.Route"}, false,
	},
	"envoy.extensions.router.cluster_specifiers.matcher.v3.MatcherClusterSpecifier": {
		"envoy.matching.http.input", nil, []string{"envoy.extensions.router.cluster_specifiers.matcher.v3.ClusterAction"}, false,
	},
	"envoy.extensions.common.matching.v3.ExtensionWithMatcher": {"envoy.matching.http.input", nil, []string{
		"envoy.extensions.filters.common.matcher.action.v3.SkipFilter", "envoy.extensions.filters.http.composite.v3.ExecuteFilterAction",
	}, true},
}

const genericAction = "envoy.extensions.filters.network.generic_proxy.action.v3.RouteAction"

func (f filterMatcher) takes(p *lint.Pass, part matcherPart, name protoreflect.FullName) bool {
	x := p.Target.Extensions()
	switch part {
	case inputPart:
		return !slices.Contains(f.not, name) && (envoy.Known(x, name, f.inputs) || envoy.Known(x, name, "envoy.matching.common_inputs"))
	case customPart:
		return envoy.Known(x, name, "envoy.matching.input_matchers")
	case treePart:
		return envoy.Known(x, name, f.trees())
	}
	if !strings.HasPrefix(string(name), "envoy.") && !strings.HasPrefix(string(name), "google.") {
		return true // it may be an action of another build
	}
	return slices.ContainsFunc(f.actions, func(prefix string) bool { return strings.HasPrefix(string(name), prefix) })
}

// trees returns the category of the custom matchers of a tree, which are those of HTTP and of the network.
func (f filterMatcher) trees() string {
	return strings.TrimSuffix(f.inputs, "input") + "custom_matchers"
}

func (f filterMatcher) help(part matcherPart) string {
	switch part {
	case inputPart:
		return "use an extension of the category " + f.inputs
	case customPart:
		return "use an extension of the category envoy.matching.input_matchers, or value_match"
	case treePart:
		return "use exact_match_map, prefix_match_map, or an extension of the category " + f.trees()
	}
	return "use " + strings.Join(f.actions, " or ")
}
