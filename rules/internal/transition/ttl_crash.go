package transition

import (
	"fmt"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "ttl-crash",
	Severity: lint.Error,
	Summary:  "a TTL whose expiry crashes Envoy or removes the resource",
	Links: []string{
		"https://github.com/envoyproxy/envoy/issues/24271",
		"GrpcMuxImpl::expiryCallback (source/extensions/config_subscription/grpc/grpc_mux_impl.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/api-docs/xds_protocol#ttl",
	},
	Run: lint.ForTransition(func(p *lint.Pass, _ *graph.Changes) {
		for _, end := range ends {
			if end.on(p.Push.Transport) {
				reportEnd(p, end)
			}
		}
	}),
})

// end describes what happens when the TTL of a resource expires.
type end struct {
	kind      graph.Kind
	severity  lint.Severity
	on        func(lint.Transport) bool
	does, how string
}

const crash = "segmentation fault; a restarted Envoy receives the same resource again"

var ends = []end{
	{graph.ClusterLoadAssignment, lint.Error, aggregated, "Envoy crashes", crash},
	{graph.RouteConfiguration, lint.Error, aggregated, "Envoy crashes", crash},
	{graph.ScopedRouteConfiguration, lint.Error, aggregated, "Envoy crashes", crash},
	{graph.Secret, lint.Error, aggregated, "Envoy crashes", crash},
	{graph.ExtensionConfig, lint.Info, aggregated, "the filter has no configuration", "Envoy answers requests that pass it with 500 (response flag NFCF), unless it has a default_config"},
	{graph.Cluster, lint.Info, wholeState, "Envoy removes the cluster", "it answers requests for it with 503 (response flag NC)"},
	{graph.Listener, lint.Info, wholeState, "Envoy removes the listener", "new connections fail (connection refused), and open ones drain"},
}

func aggregated(t lint.Transport) bool { return t == lint.ADSSotW }
func wholeState(t lint.Transport) bool { return !t.Incremental() }

func reportEnd(p *lint.Pass, e end) {
	var first *graph.Resource
	more := -1
	for _, r := range p.Snapshot.All(e.kind) {
		if r.Delivery == graph.OverXDS && r.TTL > 0 {
			if first == nil {
				first = r
			}
			more++
		}
	}
	if first == nil {
		return
	}
	p.ReportResource(first, lint.Diagnostic{
		Severity: e.severity,
		Message: fmt.Sprintf("%s %q%s with a TTL: without a heartbeat for %s, %s",
			spoken(e.kind), first.Name, andMore(more, "other", "others"), first.TTL, e.does),
		Notes: []string{e.how},
		Help:  "remove ttl: Envoy then keeps its configuration while the control plane is away",
	})
}
