package admission

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
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

// candidate is what a node has, or could be sent, and what is known about it. Nodes that are sent the same share it.
type candidate struct {
	from   cachev3.ResourceSnapshot // that it was read from or is sent as; nil: none
	served [types.UnknownType]cachev3.Resources
	*contents
	*opinion
}

func nothing() *candidate { return &candidate{contents: &contents{}} }

// holds reports whether a snapshot is what was read: the same messages with the same TTLs, in the same versions.
func (c *candidate) holds(s cachev3.ResourceSnapshot) bool {
	if isSame(c.from, s) {
		return true
	}
	for t, url := range urls {
		if s.GetVersion(url) != c.served[t].Version || !maps.Equal(s.GetResourcesAndTTL(url), c.served[t].Items) {
			return false
		}
	}
	return true
}

// versioned returns the graph with the versions that are served: hazards depend on them.
func (c *candidate) versioned() *graph.Snapshot {
	all := map[graph.Kind]string{}
	for t, kind := range kinds {
		if kind != "" {
			all[kind] = c.served[t].Version
		}
	}
	return c.graph.WithVersions(all)
}

// in returns the candidate in a world. An opinion about resources that are mostly the same helps to form the one about it.
func (c *candidate) in(w world, like *opinion) *candidate {
	if c.opinion != nil && c.world == w {
		return c
	}
	made := *c // nodes with another world may share c
	made.opinion = &opinion{lock: make(chan struct{}, 1), like: like, world: w}
	return &made
}

// opinion is what is known about resources in a world. Nodes that have the same resources in the same world share it.
type opinion struct {
	lock  chan struct{} // held by the one goroutine that judges
	like  *opinion      // about resources that are mostly the same; nil: there is none, or it was used
	world world

	graph    *graph.Snapshot // nil: not built yet
	judged   *lint.Judged    // nil: nothing that a later run can use
	errors   []lint.Diagnostic
	failures []*lint.Failure
	unable   []*lint.Origin // custom rules that failed on it
	linted   bool
	took     time.Duration // to find the errors
}

// build builds the graph of a candidate.
func (g *Gate) build(c *candidate) {
	c.lock <- struct{}{}
	defer func() { <-c.lock }()
	g.graphOf(c)
}

// graphOf builds the graph, if most of it is known at the cost of what is not.
func (g *Gate) graphOf(c *candidate) {
	if c.graph != nil {
		return
	}
	before, judged := c.like.known()
	same := before != nil && c.like.world == c.world && !c.world.has(graph.ScopedRouteConfiguration) // see scopesOverADS
	c.like = nil
	if same {
		c.graph, c.judged = before.With(slices.Concat(g.bootstrap.resources, c.all)), judged
	} else {
		c.graph = g.graph(c.all, c.world)
	}
}

// known returns the graph and what was judged, unless another goroutine is about to find it out.
func (o *opinion) known() (*graph.Snapshot, *lint.Judged) {
	if o == nil {
		return nil, nil
	}
	select {
	case o.lock <- struct{}{}:
		defer func() { <-o.lock }()
		return o.graph, o.judged
	default:
		return nil, nil
	}
}

// clean reports whether all rules have judged the resources and found no error. It does not wait for a goroutine that judges them.
func (o *opinion) clean() bool {
	select {
	case o.lock <- struct{}{}:
		defer func() { <-o.lock }()
		return o.linted && len(o.errors) == 0 && len(o.failures) == 0 && len(o.unable) == 0
	default:
		return false
	}
}

// lint finds the errors in a candidate, unless they are known. It reports whether it finished before ctx ended.
func (g *Gate) lint(ctx context.Context, c *candidate) bool {
	select {
	case c.lock <- struct{}{}:
		defer func() { <-c.lock }()
	case <-ctx.Done():
		return false
	}
	if c.linted {
		return true
	}
	began := time.Now()
	g.graphOf(c)
	result, judged := lint.RunAfter(ctx, c.graph, lint.Config{
		Rules: g.options.Rules, Target: g.options.Target, TargetGiven: g.options.Target != (dataplane.Target{}), GRPCEnv: g.options.GRPCEnv,
	}, c.judged)
	c.errors, c.failures, c.unable = errorsIn(result.Diagnostics), result.Failures, result.Unable
	c.linted, c.took = ctx.Err() == nil, time.Since(began)
	if c.linted {
		c.judged = judged
	}
	return c.linted
}

func errorsIn(found []lint.Diagnostic) []lint.Diagnostic {
	return slices.DeleteFunc(found, func(d lint.Diagnostic) bool { return d.Severity < lint.Error })
}
