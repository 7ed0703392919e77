package admission

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load/gocp"
	"github.com/xdslint/xdslint/internal/parallel"
	"github.com/xdslint/xdslint/lint"
)

// key identifies a resource.
type key struct {
	of   types.ResponseType
	name string
}

func (k key) kind() graph.Kind { return kinds[k.of] }

// keyOf returns the key of a resource, unless it comes from the bootstrap or from a file that the bootstrap names: no push changes those.
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

// pushed is the source file of all resources: rules compare within a file.
var pushed = &graph.SourceFile{Name: "snapshot"}

// candidate is what a node has, or could be sent, and what is wrong with it.
type candidate struct {
	served    [types.UnknownType]cachev3.Resources
	resources map[key]*graph.Resource
	order     []key // by type and name

	world    world
	graph    *graph.Snapshot // in that world; nil: not built yet
	errors   []lint.Diagnostic
	failures []*lint.Failure
	unable   []*lint.Origin // custom rules that failed on it
	linted   bool
	took     time.Duration // to find the errors
}

// read reads the resources of a snapshot. Resources that are equal in an earlier snapshot are taken from there.
func (g *Gate) read(s cachev3.ResourceSnapshot, earlier *candidate) *candidate {
	c := &candidate{}
	for t, url := range urls {
		c.served[t] = cachev3.Resources{Version: s.GetVersion(url), Items: s.GetResourcesAndTTL(url)}
		if kinds[t] != "" {
			for _, name := range slices.Sorted(maps.Keys(c.served[t].Items)) {
				c.order = append(c.order, key{types.ResponseType(t), name})
			}
		}
	}
	made := make([]*graph.Resource, len(c.order))
	parallel.Each(context.Background(), len(made), func() func(int) {
		return func(i int) { made[i] = g.resource(c.order[i], c.served[c.order[i].of], earlier) }
	})
	c.resources = make(map[key]*graph.Resource, len(made))
	for i, k := range c.order {
		c.resources[k] = made[i]
	}
	if earlier != nil && maps.Equal(c.resources, earlier.resources) { // so what is known about them is the same too
		c.world, c.graph, c.linted = earlier.world, earlier.graph, earlier.linted
		c.errors, c.failures, c.unable, c.took = earlier.errors, earlier.failures, earlier.unable, earlier.took
	}
	return c
}

func (g *Gate) resource(k key, all cachev3.Resources, earlier *candidate) *graph.Resource {
	item := all.Items[k.name]
	if r := earlier.like(k, item); r != nil {
		if g.options.Hazards == nil || r.Version == all.Version {
			return r
		}
		again := r.As(r.Name, r.Message) // hazards depend on versions too
		again.Problems, again.Version = r.Problems, all.Version
		return again
	}
	r, err := gocp.Resource(pushed, urls[k.of], k.name, item)
	if err != nil { // treated like a file that cannot be decoded
		r = &graph.Resource{Kind: k.kind(), Name: k.name, File: pushed}
		r.Problems = []graph.Problem{{Kind: graph.Syntax, Message: "this is " + err.Error()}}
	}
	r.Version = all.Version
	return r
}

// like returns the resource of a key if it is equal to what is served now and has the same TTL.
func (c *candidate) like(k key, item types.ResourceWithTTL) *graph.Resource {
	if c == nil || item.Resource == nil {
		return nil
	}
	r, was := c.resources[k], c.served[k.of].Items[k.name]
	if r == nil || r.Message == nil || (was.TTL == nil) != (item.TTL == nil) || was.TTL != nil && *was.TTL != *item.TTL {
		return nil
	}
	if was.Resource == item.Resource || proto.Equal(r.Message, item.Resource) {
		return r
	}
	return nil
}

// holds reports whether a snapshot is what was read: the same messages with the same TTLs, in the same versions.
func (c *candidate) holds(s cachev3.ResourceSnapshot) bool {
	for t, url := range urls {
		items := s.GetResourcesAndTTL(url)
		if s.GetVersion(url) != c.served[t].Version || !maps.Equal(items, c.served[t].Items) {
			return false
		}
	}
	return true
}

// types returns the types of the resources.
func (c *candidate) types() (w world) {
	for k := range c.resources {
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

// build builds the graph in a world.
func (g *Gate) build(c *candidate, w world) {
	if c.graph != nil && c.world == w {
		return
	}
	all := make([]*graph.Resource, len(c.order))
	for i, k := range c.order {
		all[i] = c.resources[k]
	}
	c.graph, c.linted, c.world = g.graph(all, w), c.linted && c.world == w, w
}

// lint finds the errors in a candidate, unless they are known. It reports whether it finished before ctx ended.
func (g *Gate) lint(ctx context.Context, c *candidate, w world) bool {
	if c.linted && c.world == w {
		return true
	}
	began := time.Now()
	g.build(c, w)
	result := lint.Run(ctx, []*graph.Snapshot{c.graph}, lint.Config{
		Rules: g.options.Rules, Target: g.options.Target, TargetGiven: g.options.Target != (dataplane.Target{}),
	})
	c.errors, c.failures, c.unable = errorsIn(result.Diagnostics), result.Failures, result.Unable
	c.linted, c.took = ctx.Err() == nil, time.Since(began)
	return c.linted
}

func errorsIn(found []lint.Diagnostic) []lint.Diagnostic {
	return slices.DeleteFunc(found, func(d lint.Diagnostic) bool { return d.Severity < lint.Error })
}
