package conform

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/protocol"
	"github.com/xdslint/xdslint/internal/recording"
	"github.com/xdslint/xdslint/pull"
)

// world is what a server serves: the content of each resource.
type world map[resource]string

type resource struct {
	kind graph.Kind
	name string
}

func (r resource) String() string { return string(r.kind) + "/" + r.name }

// discovery is how many times as long as for one answer the server may take until all that it serves is known.
const discovery = 20

// discover fetches what the server serves for the node. What others refer to, and is neither sent nor said to be removed,
// is missing after a time.
func (r *run) discover(ctx context.Context, wait time.Duration) (w world, missing map[graph.Kind][]string, err error) {
	ctx, cancel := context.WithTimeout(ctx, discovery*wait) // a server may never be silent
	defer cancel()
	request := pull.Request{Node: r.Node, Wait: wait}
	got, err := pull.SotW(ctx, r.server, request)
	if err != nil {
		sotw := err
		if got, err = pull.Delta(ctx, r.server, request); err != nil {
			return nil, nil, sotw
		}
	}
	w = world{}
	for _, set := range got.Sets {
		for _, one := range set.Resources {
			w[resource{set.Kind, one.Name}] = string(one.Body.GetValue())
		}
	}
	missing = map[graph.Kind][]string{}
	for _, m := range got.Missing {
		if !m.Denied {
			missing[m.Kind] = append(missing[m.Kind], m.Name)
		}
	}
	return w, missing, nil
}

// most is how many resources of a kind are asked for by name.
const most = 20

// names returns names of a kind that exist, the first few.
func (w world) names(kind graph.Kind) (names []string) {
	for r := range w {
		if r.kind == kind {
			names = append(names, r.name)
		}
	}
	slices.Sort(names)
	return names[:min(most, len(names))]
}

// named returns the kinds of which something exists.
func (w world) named() (some []graph.Kind) {
	for _, kind := range kinds {
		if len(w.names(kind)) > 0 {
			some = append(some, kind)
		}
	}
	return some
}

// asked returns the kinds that a client asks for: those, what every Envoy asks for, and what others refer to.
func (r *run) asked() (some []graph.Kind) {
	named := r.world.named()
	for _, kind := range kinds {
		if kind == graph.Cluster || kind == graph.Listener || slices.Contains(named, kind) || len(r.missing[kind]) > 0 {
			some = append(some, kind)
		}
	}
	return some
}

// without returns the resources that another world lacks, such that what refers to others comes last.
func (w world) without(other world) (all []resource) {
	for r := range w {
		if _, ok := other[r]; !ok {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b resource) int {
		if a.kind != b.kind {
			return slices.Index(kinds, a.kind) - slices.Index(kinds, b.kind)
		}
		return strings.Compare(a.name, b.name)
	})
	return all
}

// kinds are the kinds that are asked for, in the order in which a client needs them. VHDS is left out: the names in it are
// made up by clients.
var kinds = []graph.Kind{
	graph.Cluster, graph.ClusterLoadAssignment, graph.Listener, graph.ScopedRouteConfiguration, graph.RouteConfiguration,
	graph.Secret, graph.Runtime, graph.ExtensionConfig,
}

// wildcard reports whether Envoy asks for all of a kind.
func wildcard(kind graph.Kind) bool {
	return kind == graph.Cluster || kind == graph.Listener || kind == graph.ScopedRouteConfiguration
}

// transport is one of the ways to speak xDS over gRPC.
type transport struct{ delta, aggregated bool }

var transports = []transport{{false, true}, {true, true}, {false, false}, {true, false}}

// String returns its name in reports: sotw-ads, delta-ads, sotw or delta.
func (t transport) String() string {
	name := "sotw"
	if t.delta {
		name = "delta"
	}
	if t.aggregated {
		name += "-ads"
	}
	return name
}

// method returns the gRPC method of a stream; an empty type: of the aggregated one.
func (t transport) method(typeURL string) string {
	return recording.Method(protocol.Opened{Delta: t.delta, TypeURL: typeURL})
}
