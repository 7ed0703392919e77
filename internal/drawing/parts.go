package drawing

import "github.com/xdslint/xdslint/graph"

// isPart reports whether a place is a part: a message inside a resource that xDS could also deliver by itself.
func isPart(at *graph.Place) bool {
	kind := graph.KindOf(at.Message.Descriptor().FullName())
	return at.Parent != nil && (kind == graph.RouteConfiguration || kind == graph.ClusterLoadAssignment)
}

type partKey struct {
	of *Node
	at *graph.Place
}

// WithParts returns the drawing with a node for each part: a listener's inline route configuration, a cluster's load
// assignment. The references of a part begin at its node.
func (d *Drawing) WithParts() *Drawing {
	w := &drawer{taken: map[string]int{}}
	parts := map[partKey]*Node{}
	for _, n := range d.Nodes {
		w.taken[string(n.Kind)+"/"+n.Name]++
		w.Nodes = append(w.Nodes, n)
	}
	for _, n := range d.Nodes {
		if n.Resource == nil || n.Inside {
			continue
		}
		n.Resource.Walk(func(at *graph.Place) {
			if !isPart(at) {
				return
			}
			kind, name := graph.KindOf(at.Message.Descriptor().FullName()), graph.NameOf(at.Message)
			part := w.node(&Node{Kind: kind, Name: name, Snapshot: n.Snapshot, Resource: n.Resource, Inside: true, Part: at.Path})
			parts[partKey{n, at}] = part
			edge := &graph.Edge{Reference: &graph.Reference{From: n.Resource, Path: at.Path, Kind: kind, Target: name, Place: at.Parent}, To: n.Resource}
			w.Edges = append(w.Edges, &Line{From: n, To: part, Edge: edge})
		})
	}
	for _, line := range d.Edges {
		from := line.From
		for at := line.Edge.Place; at != nil; at = at.Parent {
			if part := parts[partKey{line.From, at}]; part != nil {
				from = part
				break
			}
		}
		w.Edges = append(w.Edges, &Line{From: from, To: line.To, Edge: line.Edge})
	}
	return &w.Drawing
}
