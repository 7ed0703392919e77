package route

import (
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "retry-vhost-replaced",
	Severity: lint.Warning,
	Summary:  "a route has a retry policy without retry_on, which replaces that of its virtual host",
	Links: []string{
		"RouteEntryImplBase::buildRetryPolicy (source/common/router/config_impl.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/route/v3/route_components.proto#envoy-v3-api-field-config-route-v3-virtualhost-retry-policy",
	},
	Run: eachRetrying(func(p *lint.Pass, r retrying) {
		host, place := graph.Around[*routev3.VirtualHost](r.at.Place)
		if !r.own || r.policy.GetRetryOn() != "" || r.policy.GetNumRetries().GetValue() == 0 && r.policy.GetPerTryTimeout() == nil || !envoy.Retries(host.GetRetryPolicy()) {
			return
		}
		p.Report(r.at.Key(), lint.Diagnostic{
			Message: "requests of this route are never retried",
			Notes:   []string{"a retry policy of a route replaces that of its virtual host: nothing is inherited, and there is no retry_on here"},
			Help:    "repeat retry_on and the other fields here",
			Related: []lint.Related{lint.RelatedTo(place.At().Field("retry_policy", "retry_on"), "this does not apply")},
			Fixes:   lint.Insert(r.at, "retry_on", host.GetRetryPolicy().GetRetryOn()).Likely("repeat retry_on"),
		})
	}),
})
