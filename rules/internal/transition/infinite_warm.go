package transition

import (
	"fmt"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "infinite-warm",
	Severity: lint.Warning,
	Summary:  "a new or changed resource waits forever for a resource that the push does not have",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/core/v3/config_source.proto#envoy-v3-api-field-config-core-v3-configsource-initial-fetch-timeout",
	},
	Run: lint.ForTransition(func(p *lint.Pass, changes *graph.Changes) {
		if len(p.Old.All()) == 0 {
			return // a first push breaks nothing; rules about single snapshots report what is missing
		}
		for _, kind := range []graph.Kind{graph.Listener, graph.Cluster} {
			for _, change := range changes.Of(kind) {
				if change.New == nil || !p.Snapshot.Serves(change.New) {
					continue
				}
				for _, e := range p.Snapshot.From(change.New) {
					if waitsForever(p, e) {
						reportForever(p, change, e)
						break // one is enough to make it wait
					}
				}
			}
		}
	}),
})

// awaited lists the references for which a listener or cluster warms, by the field with their ConfigSource.
var awaited = map[graph.Kind]string{
	graph.ClusterLoadAssignment: "eds_config",
	graph.RouteConfiguration:    "config_source",
	graph.Secret:                "sds_config",
}

func waitsForever(p *lint.Pass, e *graph.Edge) bool {
	at, cs := sourceOf(e)
	if at == nil || cs.GetInitialFetchTimeout() == nil || cs.GetInitialFetchTimeout().AsDuration() != 0 {
		return false
	}
	return e.To == nil && e.Source != graph.Static && p.Old.Find(e.Kind, e.Source, e.Target) == nil &&
		!p.Snapshot.Assumes(e.Kind, e.Target) && !p.Snapshot.Opened(e.Kind)
}

// sourceOf returns the ConfigSource of a reference, and the message that holds it.
func sourceOf(e *graph.Edge) (protoreflect.Message, *corev3.ConfigSource) {
	name := awaited[e.Kind]
	if name == "" {
		return nil, nil
	}
	holder := e.Place.Message
	if e.Field == fieldEDS {
		holder = holder.Get(holder.Descriptor().Fields().ByName("eds_cluster_config")).Message()
	}
	fd := holder.Descriptor().Fields().ByName(protoreflect.Name(name))
	if fd == nil || fd.Message() == nil || !holder.Has(fd) {
		return nil, nil
	}
	cs, _ := holder.Get(fd).Message().Interface().(*corev3.ConfigSource)
	return holder, cs
}

func reportForever(p *lint.Pass, change *graph.Change, e *graph.Edge) {
	at := e.Place.At()
	if e.Field == fieldEDS {
		at = at.Field("eds_cluster_config")
	}
	p.Report(at.Field(awaited[e.Kind], "initial_fetch_timeout"), lint.Diagnostic{
		Message: fmt.Sprintf("%s %q waits forever for %s %q, which the push does not have",
			spoken(change.Kind), change.Name, spoken(e.Kind), e.Target),
		Notes: []string{foreverNote(change)},
		Help:  fmt.Sprintf("push the %s too, or leave initial_fetch_timeout at its default of 15 s", spoken(e.Kind)),
	})
}

func foreverNote(change *graph.Change) string {
	switch {
	case change.Changed():
		return "the old one remains in use, and the change never takes effect"
	case change.Kind == graph.Listener:
		return "Envoy never opens its port: connections fail (connection refused)"
	}
	return "routes do not find the cluster: Envoy answers requests with 503 (response flag NC), and never ACKs CDS"
}
