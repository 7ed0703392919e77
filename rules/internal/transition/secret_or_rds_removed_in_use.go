package transition

import (
	"fmt"
	"slices"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "secret-or-rds-removed-in-use",
	Severity: lint.Error,
	Summary:  "a secret or route configuration is removed while the new snapshot still refers to it",
	Links: []string{
		"SdsApi::onConfigUpdate (source/common/secret/sds_api.cc)",
		"RdsRouteConfigSubscription::onConfigUpdate (source/common/rds/rds_route_config_subscription.cc)",
		"https://github.com/envoyproxy/envoy/issues/14000",
	},
	Run: lint.ForTransition(func(p *lint.Pass, changes *graph.Changes) {
		for _, kind := range []graph.Kind{graph.Secret, graph.RouteConfiguration} {
			if !slices.ContainsFunc(changes.Of(kind), (*graph.Change).Removed) {
				continue
			}
			dangling := map[string][]*graph.Edge{}
			for _, e := range p.Snapshot.References(kind) {
				if e.To == nil && e.Source != graph.Static && p.Snapshot.Serves(e.From) && !p.Snapshot.Assumes(kind, e.Target) {
					dangling[e.Target] = append(dangling[e.Target], e)
				}
			}
			for _, change := range changes.Of(kind) {
				if edges := dangling[change.Name]; change.Removed() && len(edges) > 0 && !p.Snapshot.Opened(kind) {
					reportFrozen(p, change.Old, edges)
				}
			}
		}
	}),
})

func reportFrozen(p *lint.Pass, gone *graph.Resource, edges []*graph.Edge) {
	first := edges[0]
	without := "answers all requests with 404 (response flag NR)"
	switch {
	case gone.Kind == graph.Secret && first.From.Kind == graph.Cluster:
		without = "answers requests for the cluster with 503 (response flag UF)"
	case gone.Kind == graph.Secret:
		without = "continues without it and resets TLS connections"
	}
	notes := []string{
		"a running Envoy keeps its last version; a starting Envoy waits for initial_fetch_timeout (15 s unless set), then " + without,
	}
	p.ReportEdge(first, lint.Diagnostic{
		Message: fmt.Sprintf("%s %q is removed, but %s %q still refers to it",
			spoken(gone.Kind), gone.Name, spoken(first.From.Kind), first.From.Name),
		Notes:   append(notes, placesMore(len(edges)-1)...),
		Help:    "keep it, or remove it together with what refers to it",
		Related: []lint.Related{lint.RelatedTo(gone.At().Field("name"), "the new snapshot does not have it")},
	})
}
