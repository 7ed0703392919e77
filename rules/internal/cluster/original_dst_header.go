package cluster

import (
	"fmt"
	"slices"
	"strings"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "original-dst-header",
	Severity: lint.Warning,
	Summary:  "a request header says which address Envoy connects to, and clients can set it",
	Links: []string{
		"OriginalDstCluster::LoadBalancer::requestOverrideHost (source/extensions/clusters/original_dst/original_dst_cluster.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/upstream/load_balancing/original_dst",
	},
	Run: eachRouted(func(p *lint.Pass, c *clusterv3.Cluster, _ lint.At) bool {
		return c.GetOriginalDstLbConfig().GetUseHttpHeader() && envoy.ClusterFactory(p.Target.Extensions(), c) == envoy.ClusterOriginalDst
	}, func(p *lint.Pass, r routed) {
		header := r.cluster.GetOriginalDstLbConfig().GetHttpHeaderName()
		if header == "" {
			header = "x-envoy-original-dst-host"
		}
		if strings.HasPrefix(header, ":") || controls(r.RouteLevel, header) {
			return // a forward proxy connects to the :authority of requests
		}
		p.Report(r.name, lint.Diagnostic{
			Message: fmt.Sprintf("a client chooses the address that Envoy connects to, by the header %s", header),
			Notes:   []string{"Envoy takes the header from any client, and connects to any address that it can reach itself"},
			Help:    fmt.Sprintf("set %s in the route with OVERWRITE_IF_EXISTS_OR_ADD, match its allowed values, or remove it", header),
			Related: []lint.Related{lint.RelatedTo(r.at.Field("original_dst_lb_config", "use_http_header"), "the cluster reads the header")},
		})
	}),
})

// controls reports whether a route restricts a header, removes it or sets it, or a level around the route does.
func controls(l *envoy.RouteLevel, header string) bool {
	is := func(name string) bool { return strings.EqualFold(name, header) }
	sets := func(o *corev3.HeaderValueOption) bool { return is(o.GetHeader().GetKey()) }
	for _, h := range l.Route.GetMatch().GetHeaders() {
		if is(h.GetName()) {
			return true
		}
	}
	if slices.ContainsFunc(l.Table.GetInternalOnlyHeaders(), is) {
		return true
	}
	for _, m := range []interface {
		GetRequestHeadersToAdd() []*corev3.HeaderValueOption
		GetRequestHeadersToRemove() []string
	}{l.Cluster, l.Route, l.Host, l.Table} {
		if slices.ContainsFunc(m.GetRequestHeadersToAdd(), sets) || slices.ContainsFunc(m.GetRequestHeadersToRemove(), is) {
			return true
		}
	}
	return false
}
