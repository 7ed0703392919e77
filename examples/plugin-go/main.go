//go:build wasip1

// A plugin for xdslint with two rules of a fictional company, acme.
package main

import (
	"fmt"
	"regexp"
	"strings"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"

	"github.com/xdslint/xdslint/sdk"
)

func init() {
	sdk.Register(
		sdk.Rule{
			ID: "acme/cluster-name", Severity: sdk.Warning,
			Summary: "a cluster whose name is not team-service",
			Why:     "Each team has its own dashboards and alerts: the part before the hyphen in a cluster's name says which team is on call.",
			Check:   sdk.Each(clusterName),
		},
		sdk.Rule{
			ID:      "acme/team-boundary",
			Summary: "a route into another team's cluster that the team has not exported",
			Why: "A team may change or remove its clusters without asking the others. A cluster must be exported before others route to it: " +
				"`metadata.filter_metadata` of the cluster has `acme: {exported: true}`.",
			Check: sdk.Whole(teamBoundary, (*clusterv3.Cluster)(nil)),
		},
	)
}

// main is never called: xdslint calls the functions that package sdk exports.
func main() {}

var teamService = regexp.MustCompile(`^[a-z]+-[a-z]+$`)

func clusterName(p *sdk.Pass, at sdk.At, c *clusterv3.Cluster) {
	if c.GetName() != "" && !teamService.MatchString(c.GetName()) {
		p.Report(at.Field("name"), sdk.Finding{Message: "cluster names are team-service"})
	}
}

// teamBoundary follows the references from each listener, and reports the shortest way to a cluster that it should not reach.
func teamBoundary(p *sdk.Pass) {
	for _, listener := range p.Snapshot.Resources {
		if listener.Kind != "listener" {
			continue
		}
		for _, way := range shortestWays(listener) {
			last := way[len(way)-1]
			if cluster, ok := sdk.Message[*clusterv3.Cluster](p, last.To); ok && team(cluster.GetName()) != team(listener.Name) && !exported(cluster) {
				p.Report(last.At, sdk.Finding{
					Message: fmt.Sprintf("listener %q of team %s reaches cluster %q of team %s, which has not exported it",
						listener.Name, team(listener.Name), cluster.GetName(), team(cluster.GetName())),
					Notes: []string{"the way there: " + spell(listener, way)},
					Help:  fmt.Sprintf("ask team %s to set metadata.filter_metadata.acme.exported on the cluster", team(cluster.GetName())),
				})
			}
		}
	}
}

// shortestWays lists the shortest way to each resource that a listener leads to.
func shortestWays(from *sdk.Resource) (ways [][]*sdk.Reference) {
	seen := map[*sdk.Resource]bool{from: true}
	ends := [][]*sdk.Reference{nil}
	for len(ends) > 0 {
		way := ends[0]
		ends = ends[1:]
		at := from
		if len(way) > 0 {
			at = way[len(way)-1].To
		}
		for _, reference := range at.References {
			if reference.To != nil && !seen[reference.To] {
				seen[reference.To] = true
				further := append(way[:len(way):len(way)], reference)
				ways, ends = append(ways, further), append(ends, further)
			}
		}
	}
	return ways
}

func spell(from *sdk.Resource, way []*sdk.Reference) string {
	names := []string{from.Name}
	for _, reference := range way {
		names = append(names, reference.To.Name)
	}
	return strings.Join(names, " → ")
}

// team is the part of a name before the first hyphen.
func team(name string) string {
	team, _, _ := strings.Cut(name, "-")
	return team
}

func exported(c *clusterv3.Cluster) bool {
	return c.GetMetadata().GetFilterMetadata()["acme"].GetFields()["exported"].GetBoolValue()
}
