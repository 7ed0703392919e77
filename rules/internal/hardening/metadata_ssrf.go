package hardening

import (
	"fmt"
	"slices"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/each"
)

// metadataHosts are where the machines of clouds ask for their credentials.
var metadataHosts = []string{"169.254.169.254", "fd00:ec2::254", "fd20:ce::254", "169.254.170.2", "100.100.100.200", "metadata.google.internal"}

var _ = Rules.Add(&lint.Rule{
	Name:     "metadata-ssrf",
	Severity: lint.Info,
	Profiles: map[lint.Profile]lint.Severity{lint.Edge: lint.Warning},
	Summary:  "a route leads clients to the metadata service of a cloud, which hands out credentials",
	Links:    []string{"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html"},
	Run: each.Cluster(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		route, routed := routeTo(p, at.Resource())
		if !routed {
			return
		}
		for i, locality := range c.GetLoadAssignment().GetEndpoints() {
			for j, endpoint := range locality.GetLbEndpoints() {
				host := endpoint.GetEndpoint().GetAddress().GetSocketAddress().GetAddress()
				if !slices.Contains(metadataHosts, host) {
					continue
				}
				own := at.Field("load_assignment").Item("endpoints", i).Item("lb_endpoints", j)
				p.Report(own.Field("endpoint", "address", "socket_address", "address"), lint.Diagnostic{
					Message: fmt.Sprintf("clients of a listener can reach %s, the metadata service", host),
					Notes:   []string{"it answers anyone who asks from this machine, also with the machine's credentials"},
					Help:    "remove the route",
					Related: []lint.Related{lint.RelatedTo(route.At(), "this route leads there")},
				})
			}
		}
	}),
})

// routeTo returns a reference of a route to a cluster, which the clients of a listener may use.
func routeTo(p *lint.Pass, cluster *graph.Resource) (*graph.Edge, bool) {
	for _, e := range p.Snapshot.To(cluster) {
		_, inRoute := graph.Around[*routev3.RouteAction](e.Place)
		l, inListener := graph.Around[*listenerv3.Listener](e.Place)
		if inRoute != nil && inListener != nil && envoy.TakesClients(l) {
			return e, true
		}
	}
	return nil, false
}
