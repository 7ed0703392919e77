package reference

import (
	"fmt"

	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

// clusterRule checks the references to clusters of a role. The note says what Envoy does if the cluster does not exist; notes
// for single fields come first.
func clusterRule(role envoy.ClusterRole, note string) lint.Check {
	return lint.EachEdge(graph.Cluster, func(p *lint.Pass, e *graph.Edge) {
		if suspect(e) && envoy.RoleOf(e) == role && !unusedScopes(e) {
			judgeCluster(p, envoy.BootOf(p.Snapshot), e, note)
		}
	})
}

// suspect reports whether the cluster of a reference may not exist. Hardly any of a hundred thousand is one, so this cheap check comes first.
func suspect(e *graph.Edge) bool {
	return e.To == nil || envoy.NeedsStaticCluster(e.Field) || e.To.Delivery != graph.FromBootstrap && e.From.Delivery == graph.FromBootstrap
}

// unusedScopes reports whether a reference is in an rds_config_source for scopes that hold their route tables themselves.
func unusedScopes(e *graph.Edge) bool {
	source := e.Place.Enclosing("envoy.config.core.v3.ConfigSource")
	if source == nil {
		return false
	}
	scopes, ok := graph.As[*hcmv3.ScopedRoutes](source.Parent)
	return ok && scopes.GetScopedRds() == nil
}

func judgeCluster(p *lint.Pass, b *envoy.Boot, e *graph.Edge, note string) {
	lookup := envoy.LookupOf(e)
	if lookup != nil && b != nil && (e.From.Delivery == graph.FromBootstrap || lookup.Need != envoy.AnyCluster) {
		// Envoy looks the name up while it loads this. Clusters from CDS do not exist yet, or do not count: only those of
		// the bootstrap do.
		if !b.Has(lookup.Need, e.Target) {
			reject(p, b, e, lookup)
		}
		return
	}
	if e.To != nil || p.Snapshot.Assumes(graph.Cluster, e.Target) || lookup != nil && lookup.Need != envoy.AnyCluster && b == nil {
		return // it may be in the bootstrap, and only there
	}
	world := p.Snapshot.World(graph.Cluster, e.Source)
	if world == graph.Open {
		return
	}
	d := lint.Diagnostic{Message: fmt.Sprintf("no cluster is named %q", e.Target)}
	if lookup != nil && world == graph.Closed && e.From.State == "" {
		d.Severity, d.Rejected, d.Upstream = lint.Error, true, lookup.Says
		d.Notes = []string{"Envoy rejects it: " + lookup.Why}
	} else if own := envoy.MissingClusterNote(e.Field); own != "" {
		d.Notes = []string{own}
	} else {
		d.Notes = []string{note}
	}
	p.ReportDangling(e, world, d)
}

func reject(p *lint.Pass, b *envoy.Boot, e *graph.Edge, lookup *envoy.Lookup) {
	d := lint.Diagnostic{
		Severity: lint.Error,
		Message:  fmt.Sprintf("no cluster is named %q", e.Target),
		Notes:    []string{"Envoy rejects it: " + lookup.Why},
		Help:     lookup.Help,
		Rejected: !lookup.Late,
		Upstream: lookup.Says,
	}
	if lookup.Late {
		d.Notes = []string{envoy.OnlyAtStart + ": " + lookup.Why}
	}
	switch {
	case b.Cluster(e.Target) != nil:
		d.Message = fmt.Sprintf("cluster %q must be a static one whose endpoints do not come over EDS", e.Target)
	case e.To != nil:
		d.Message = fmt.Sprintf("cluster %q is not static", e.Target)
		if lookup.Later != "" {
			d.Help += ", or " + lookup.Later
		}
	default:
		if p.Snapshot.World(graph.Cluster, graph.Anywhere) != graph.Closed {
			d.Message = fmt.Sprintf("no static cluster is named %q", e.Target)
			if lookup.Later != "" {
				d.Help += ", or " + lookup.Later
			}
		}
		d.Guess(e.Target, func(v graph.View) []string { return envoy.BootOf(v).Names(lookup.Need) }, correct(e))
	}
	p.ReportEdge(e, d)
}
