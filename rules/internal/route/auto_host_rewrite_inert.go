package route

import (
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "auto-host-rewrite-inert",
	Severity: lint.Info,
	Summary:  "auto_host_rewrite is set, and the endpoints of the cluster do not have hostnames",
	Links: []string{
		"UpstreamRequest::onPoolReady (source/common/router/upstream_request.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/route/v3/route_components.proto#envoy-v3-api-field-config-route-v3-routeaction-auto-host-rewrite",
		"https://github.com/envoyproxy/envoy/issues/13312",
	},
	Run: lint.Each(func(p *lint.Pass, at lint.At, r *routev3.Route) {
		if !r.GetRoute().GetAutoHostRewrite().GetValue() {
			return
		}
		all, known := upstreamsOf(p, r.GetRoute())
		for _, u := range all {
			known = known && u.nameless(p)
		}
		if _, ok := tableOf(p, at); !ok || !known {
			return
		}
		p.Report(at.Field("route", "auto_host_rewrite"), lint.Diagnostic{
			Message: "auto_host_rewrite has no effect: the upstream gets the Host that the client sent",
			Notes:   []string{"Envoy takes the name from the hostname of the endpoint, or from its address in a cluster that uses DNS"},
			Help:    "add a hostname to the endpoints, or use host_rewrite_literal",
			Related: []lint.Related{lint.RelatedTo(all[0].at, "the cluster")},
		})
	}),
})

// nameless reports whether it is certain that the cluster has endpoints, and that none of them has a name.
func (u upstream) nameless(p *lint.Pass) bool {
	switch envoy.ClusterFactory(p.Target.Extensions(), u.cluster) {
	case envoy.ClusterStatic:
		return nameless(u.cluster.GetLoadAssignment())
	case envoy.ClusterEDS:
		for _, e := range p.Snapshot.From(u.at.Resource()) {
			if e.Kind == graph.ClusterLoadAssignment && e.To != nil {
				m, ok := e.To.Message.(*endpointv3.ClusterLoadAssignment)
				return ok && nameless(m)
			}
		}
	}
	return false
}

func nameless(m *endpointv3.ClusterLoadAssignment) bool {
	n := 0
	for _, locality := range m.GetEndpoints() {
		for _, e := range locality.GetLbEndpoints() {
			if e.GetEndpoint() == nil || e.GetEndpoint().GetHostname() != "" {
				return false
			}
			n++
		}
	}
	return n > 0
}
