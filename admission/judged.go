package admission

import (
	"context"
	"maps"
	"slices"

	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load/gocp"
	"github.com/xdslint/xdslint/internal/parallel"
	"github.com/xdslint/xdslint/lint"
)

// key is what a resource is known by.
type key struct {
	of   types.ResponseType
	name string
}

func (k key) kind() graph.Kind { return kinds[k.of] }

// keyOf a resource, unless it is the bootstrap's, or of a file that the bootstrap names: no push changes those.
func keyOf(r *graph.Resource) (key, bool) {
	if r.Delivery != graph.OverXDS || r.Source != graph.Anywhere {
		return key{}, false
	}
	return keyNamed(r.Kind, r.Name)
}

func keyNamed(kind graph.Kind, name string) (key, bool) {
	t := slices.Index(kinds[:], kind)
	return key{types.ResponseType(t), name}, t >= 0
}

// pushed is the file that all resources are said to be of: rules compare within a file.
var pushed = &graph.SourceFile{Name: "snapshot"}

// judged is what a node has, or could have, and what is wrong with it.
type judged struct {
	served    [types.UnknownType]cachev3.Resources
	resources map[key]*graph.Resource
	order     []key // by type and name

	world    world
	graph    *graph.Snapshot // in that world; nil: to be built
	errors   []lint.Diagnostic
	failures []*lint.Failure
	unable   []*lint.Origin // custom rules that could not judge it
	linted   bool
}

// read makes resources of what a snapshot serves. Those that say the same in an earlier snapshot are taken from there.
func (g *Gate) read(s cachev3.ResourceSnapshot, earlier *judged) *judged {
	j := &judged{}
	for t, url := range urls {
		j.served[t] = cachev3.Resources{Version: s.GetVersion(url), Items: s.GetResourcesAndTTL(url)}
		if kinds[t] != "" {
			for _, name := range slices.Sorted(maps.Keys(j.served[t].Items)) {
				j.order = append(j.order, key{types.ResponseType(t), name})
			}
		}
	}
	made := make([]*graph.Resource, len(j.order))
	parallel.Each(context.Background(), len(made), func() func(int) {
		return func(i int) { made[i] = g.resource(j.order[i], j.served[j.order[i].of], earlier) }
	})
	j.resources = make(map[key]*graph.Resource, len(made))
	for i, k := range j.order {
		j.resources[k] = made[i]
	}
	if earlier != nil && maps.Equal(j.resources, earlier.resources) { // and so is all that is known of them
		j.world, j.graph, j.linted = earlier.world, earlier.graph, earlier.linted
		j.errors, j.failures, j.unable = earlier.errors, earlier.failures, earlier.unable
	}
	return j
}

func (g *Gate) resource(k key, all cachev3.Resources, earlier *judged) *graph.Resource {
	item := all.Items[k.name]
	if r := earlier.like(k, item); r != nil {
		if g.options.Hazards == nil || r.Version == all.Version {
			return r
		}
		again := r.As(r.Name, r.Message) // hazards are about versions too
		again.Problems, again.Version = r.Problems, all.Version
		return again
	}
	r, err := gocp.Resource(pushed, urls[k.of], k.name, item)
	if err != nil { // as a file that is no message of its type
		r = &graph.Resource{Kind: k.kind(), Name: k.name, File: pushed}
		r.Problems = []graph.Problem{{Kind: graph.Syntax, Message: "this is " + err.Error()}}
	}
	r.Version = all.Version
	return r
}

// like returns the resource of a key if it says the same as what is served now, and for as long.
func (j *judged) like(k key, item types.ResourceWithTTL) *graph.Resource {
	if j == nil || item.Resource == nil {
		return nil
	}
	r, was := j.resources[k], j.served[k.of].Items[k.name]
	if r == nil || r.Message == nil || (was.TTL == nil) != (item.TTL == nil) || was.TTL != nil && *was.TTL != *item.TTL {
		return nil
	}
	if was.Resource == item.Resource || proto.Equal(r.Message, item.Resource) {
		return r
	}
	return nil
}

// holds tells whether a snapshot is what was read: the same messages for the same time, in the same versions.
func (j *judged) holds(s cachev3.ResourceSnapshot) bool {
	for t, url := range urls {
		items := s.GetResourcesAndTTL(url)
		if s.GetVersion(url) != j.served[t].Version || !maps.Equal(items, j.served[t].Items) {
			return false
		}
	}
	return true
}

// types that there is any resource of.
func (j *judged) types() (w world) {
	for k := range j.resources {
		w[k.of] = true
	}
	return w
}

func (w world) and(other world) world {
	for t := range w {
		w[t] = w[t] || other[t]
	}
	return w
}

// build makes the graph in a world.
func (g *Gate) build(j *judged, w world) {
	if j.graph != nil && j.world == w {
		return
	}
	all := make([]*graph.Resource, len(j.order))
	for i, k := range j.order {
		all[i] = j.resources[k]
	}
	j.graph, j.linted, j.world = g.graph(all, w), j.linted && j.world == w, w
}

// lint finds the errors in what is judged, unless they are known. It tells whether it came to its end before ctx.
func (g *Gate) lint(ctx context.Context, j *judged, w world) bool {
	if j.linted && j.world == w {
		return true
	}
	g.build(j, w)
	result := lint.Run(ctx, []*graph.Snapshot{j.graph}, lint.Config{
		Rules: g.options.Rules, Target: g.options.Target, TargetGiven: g.options.Target != (dataplane.Target{}),
	})
	j.errors, j.failures, j.unable = errorsIn(result.Diagnostics), result.Failures, result.Unable
	j.linted = ctx.Err() == nil
	return j.linted
}

func errorsIn(found []lint.Diagnostic) []lint.Diagnostic {
	return slices.DeleteFunc(found, func(d lint.Diagnostic) bool { return d.Severity < lint.Error })
}
