package transition

import (
	"fmt"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "route-before-cluster",
	Severity: lint.Error,
	Summary:  "traffic moves to a cluster that is new in the same push",
	Why: `Envoy takes a route at once, and ACKs it, whether or not the cluster is there. A new cluster is there only after it has warmed: after its endpoints
have come over EDS, its secrets over SDS, and its first health checks are through. Until then the requests are answered with 503 (response flag
` + "`NC`" + `): for one round trip to the control plane at the least, for as long as the health checks take, for 15 seconds (` + "`initial_fetch_timeout`" + `) where
something does not come. Neither an ACK nor a NACK shows it. Sending CDS before RDS, as the "ordered ADS" of a server does, is not enough: the
server has to wait for the ACK.

It is not only routes. Without its cluster ` + "`ext_authz`" + ` denies all requests with 403, ` + "`ext_proc`" + ` answers 500, a TCP proxy closes the connections; a
mirror drops its copies and a rate limit is not applied, both in silence, which is only a note. An aggregate cluster skips the clusters that are not
there; if all of them are new, it has no host (503, response flag ` + "`UH`" + `).

` + "`validate_clusters: true`" + ` makes Envoy refuse a route table whose cluster it has never heard of; for one that is still warming it does not.

What had no answer before cannot lose one: a listener on a new address, a host or a path that nothing has served so far.`,
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/api-docs/xds_protocol#eventual-consistency-considerations",
		"https://github.com/envoyproxy/envoy/issues/13910", "https://github.com/kgateway-dev/kgateway/pull/14372",
	},
	Run: lint.Between(func(p *lint.Pass, changes *graph.Changes) {
		renamed := renames(p, changes)
		for _, g := range arriving(p, changes) {
			if renamed.to[g.cluster.Name] != nil {
				continue // rename-cluster says it
			}
			first := g.uses[0]
			notes := []string{"until the cluster is there, " + first.meanwhile, howLong(g.cluster)}
			p.ReportEdge(first.edge, lint.Diagnostic{
				Severity: first.severity,
				Message:  fmt.Sprintf("cluster %q is used before Envoy has it: %s", g.cluster.Name, whose(first.traffic, first.edge)),
				Notes:    append(notes, placesMore(len(g.uses)-1)...),
				Help:     order(p),
				Related:  []lint.Related{lint.RelatedTo(g.cluster.At().Field("name"), "new in this push")},
			})
		}
	}),
})

// howLong says how long a new cluster is not there.
func howLong(cluster *graph.Resource) string {
	if waits := warming(cluster); waits != "" {
		return "it warms first, which waits for " + waits
	}
	return "that lasts about a round trip to the control plane"
}
