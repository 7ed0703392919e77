package reference

import (
	"fmt"

	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

// clusterRule checks the references to clusters that belong to a rule. The note says what Envoy does with one that leads
// nowhere; notes for single fields come first.
func clusterRule(rule, note string) lint.Check {
	return lint.Whole(func(p *lint.Pass) {
		eachSuspect(p, rule, func(b *boot, e *graph.Edge) { judgeCluster(p, b, e, note) })
	})
}

// eachSuspect calls f for the references of a rule that may lead nowhere. Of a hundred thousand hardly any does, so the
// cheap questions come first.
func eachSuspect(p *lint.Pass, rule string, f func(b *boot, e *graph.Edge)) {
	var b *boot
	looked := false
	for _, e := range p.Snapshot.Edges {
		if e.Kind != graph.Cluster || e.To != nil && !choosy[e.Field] && (e.To.Delivery == graph.Booted || e.From.Delivery != graph.Booted) {
			continue
		}
		if owner(e) != rule || unusedScopes(e) {
			continue
		}
		if !looked {
			b, looked = bootOf(p.Snapshot), true
		}
		f(b, e)
	}
}

// unusedScopes tells that a reference stands in a rds_config_source for scopes that bring their route tables along.
func unusedScopes(e *graph.Edge) bool {
	source := e.Place.Enclosing("envoy.config.core.v3.ConfigSource")
	if source == nil {
		return false
	}
	scopes, ok := messageOf[*hcmv3.ScopedRoutes](source.Parent)
	return ok && scopes.GetScopedRds() == nil
}

// choosy are the fields that do not take any cluster there is.
var choosy = map[protoreflect.FullName]bool{
	fieldEnvoyGrpc: true,
	"envoy.config.core.v3.ApiConfigSource.cluster_names":                        true,
	"envoy.extensions.access_loggers.fluentd.v3.FluentdAccessLogConfig.cluster": true,
}

func judgeCluster(p *lint.Pass, b *boot, e *graph.Edge, note string) {
	check := checkOf(e)
	if check != nil && b != nil && (e.From.Delivery == graph.Booted || check.need != known) {
		// Envoy looks the name up while it loads this, and CDS has brought nothing yet, or does not count: what the
		// bootstrap holds decides alone.
		if !b.has(check.need, e.Target) {
			refuse(p, b, e, check)
		}
		return
	}
	if e.To != nil || p.Snapshot.Assumes(graph.Cluster, e.Target) {
		return
	}
	world := p.Snapshot.World(graph.Cluster, e.Source)
	if world == graph.Open {
		return
	}
	d := lint.Diagnostic{Message: fmt.Sprintf("no cluster is named %q", e.Target)}
	if check != nil && world == graph.Closed && e.From.State == "" {
		d.Severity, d.Refused, d.Upstream = lint.Error, true, check.upstream
		d.Notes = []string{"envoy refuses it: " + check.why}
	} else if own := noteByField[e.Field]; own != "" {
		d.Notes = []string{own}
	} else {
		d.Notes = []string{note}
	}
	p.ReportDangling(e, world, d)
}

func refuse(p *lint.Pass, b *boot, e *graph.Edge, check *check) {
	d := lint.Diagnostic{
		Severity: lint.Error,
		Message:  fmt.Sprintf("no cluster is named %q", e.Target),
		Notes:    []string{"envoy refuses it: " + check.why},
		Help:     check.help,
		Refused:  !check.late,
		Upstream: check.upstream,
	}
	if check.late {
		d.Notes = []string{"envoy --mode validate accepts it, and a real start ends at once: " + check.why}
	}
	switch {
	case b.clusters[e.Target] != nil:
		d.Message = fmt.Sprintf("cluster %q has to be a static one that is not itself discovered over EDS", e.Target)
	case e.To != nil:
		d.Message = fmt.Sprintf("cluster %q is not a static one", e.Target)
		if check.later != "" {
			d.Help += ", or " + check.later
		}
	default:
		if p.Snapshot.World(graph.Cluster, graph.Anywhere) != graph.Closed {
			d.Message = fmt.Sprintf("no static cluster is named %q", e.Target)
			if check.later != "" {
				d.Help += ", or " + check.later
			}
		}
		if near := lint.Nearest(e.Target, b.names(check.need)); near != "" {
			d.Help, d.Fixes = fmt.Sprintf("did you mean %q?", near), lint.Correct(lint.AtEdge(e), e.Target, near)
		}
	}
	p.ReportEdge(e, d)
}
