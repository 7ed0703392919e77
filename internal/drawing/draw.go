// Package drawing shows a graph: for Graphviz, as Mermaid and as JSON.
package drawing

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/xdslint/xdslint/graph"
)

// Drawing is a graph for display and for JSON: nodes are names, edges are references. Its order depends on the input only.
type Drawing struct {
	Nodes []*Node
	Edges []*Line
}

// Node is a resource, a name declared inside one, or a name that does not exist in the input.
type Node struct {
	ID       string // KIND/NAME, with a #2 where several resources have the same
	Kind     graph.Kind
	Name     string
	Snapshot string // the file of the bootstrap or config_dump; empty: loose resources
	Resource *graph.Resource
	Inside   bool        // Resource declares the name
	Part     *graph.Path // path in Resource; nil: all of it, or not known
	Missing  bool
	World    graph.World // what a missing name means
}

// Line is one reference.
type Line struct {
	From, To *Node
	Edge     *graph.Edge
}

// Of returns the drawing of built snapshots.
func Of(snapshots []*graph.Snapshot) *Drawing {
	d := &drawer{taken: map[string]int{}}
	for _, s := range snapshots {
		d.snapshot(s)
	}
	return &d.Drawing
}

type drawer struct {
	Drawing
	taken map[string]int
}

// inner is a name that is not a resource.
type inner struct {
	in     *graph.Resource // nil: missing
	kind   graph.Kind
	source graph.Source
	name   string
}

func (d *drawer) node(n *Node) *Node {
	n.ID = string(n.Kind) + "/" + n.Name
	d.taken[n.ID]++
	if k := d.taken[n.ID]; k > 1 {
		n.ID += "#" + strconv.Itoa(k)
	}
	d.Nodes = append(d.Nodes, n)
	return n
}

func (d *drawer) snapshot(s *graph.Snapshot) {
	of, names, order := map[*graph.Resource]*Node{}, map[inner]*Node{}, map[*graph.Resource]int{}
	for i, r := range s.Resources {
		order[r] = i
		if !r.Outside() {
			of[r] = d.node(&Node{Kind: r.Kind, Name: r.Name, Snapshot: s.Name, Resource: r})
		}
	}
	edges := slices.Clone(s.References())
	slices.SortStableFunc(edges, func(a, b *graph.Edge) int {
		return cmp.Or(order[a.From]-order[b.From], cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Target, b.Target),
			cmp.Compare(a.Path.String(), b.Path.String()))
	})
	for _, e := range edges {
		to := of[e.To]
		switch {
		case e.To == nil:
			key := inner{kind: e.Kind, source: e.Source, name: e.Target}
			if names[key] == nil {
				world := s.World(e.Kind, e.Source)
				if s.Assumes(e.Kind, e.Target) {
					world = graph.Open
				}
				names[key] = d.node(&Node{Kind: e.Kind, Name: e.Target, Snapshot: s.Name, Missing: true, World: world})
			}
			to = names[key]
		case e.Kind != e.To.Kind:
			key := inner{in: e.To, kind: e.Kind, name: e.Target}
			if names[key] == nil {
				names[key] = d.node(&Node{Kind: e.Kind, Name: e.Target, Snapshot: s.Name, Resource: e.To, Inside: true})
			}
			to = names[key]
		}
		if from := of[e.From]; from != nil && to != nil {
			d.Edges = append(d.Edges, &Line{From: from, To: to, Edge: e})
		}
	}
}

// From returns the part of the drawing that a name leads to, at most depth references away; a negative depth means no
// limit. It returns false if nothing has that name.
func (d *Drawing) From(kind graph.Kind, name string, depth int) (*Drawing, bool) {
	far := map[*Node]int{}
	var queue []*Node
	for _, n := range d.Nodes {
		if n.Kind == kind && n.Name == name {
			far[n] = 0
			queue = append(queue, n)
		}
	}
	if len(queue) == 0 {
		return nil, false
	}
	next := map[*Node][]*Line{}
	for _, line := range d.Edges {
		next[line.From] = append(next[line.From], line)
	}
	for ; len(queue) > 0; queue = queue[1:] {
		for _, line := range next[queue[0]] {
			if _, seen := far[line.To]; !seen && (depth < 0 || far[queue[0]] < depth) {
				far[line.To] = far[queue[0]] + 1
				queue = append(queue, line.To)
			}
		}
	}
	cut := &Drawing{}
	for _, n := range d.Nodes {
		if _, ok := far[n]; ok {
			cut.Nodes = append(cut.Nodes, n)
		}
	}
	for _, line := range d.Edges {
		from, ok := far[line.From]
		if _, both := far[line.To]; ok && both && (depth < 0 || from < depth) {
			cut.Edges = append(cut.Edges, line)
		}
	}
	return cut, true
}

// place returns the place of a node's resource, or nil if it has no text.
func (n *Node) place() (*graph.SourceFile, graph.Span) {
	if n.Part != nil {
		return placed(n.Resource, n.Part)
	}
	if n.Resource == nil || n.Inside {
		return nil, graph.Span{}
	}
	if n.Resource.Text == nil {
		return n.Resource.File, graph.Span{}
	}
	return n.Resource.File, n.Resource.Text.Span()
}

func (l *Line) place() (*graph.SourceFile, graph.Span) { return placed(l.Edge.From, l.Edge.Path) }

func placed(r *graph.Resource, at *graph.Path) (*graph.SourceFile, graph.Span) {
	found := r.Locate(at)
	if !found.Exact {
		return r.File, graph.Span{}
	}
	return r.File, found.Value
}
