package load

import (
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/tree"
)

// file adds the resources of a file that is neither a bootstrap nor a config_dump.
func (a *assembly) file(from origin) {
	for _, doc := range from.in.docs {
		switch recognise(doc) {
		case response:
			a.envelope(from, doc, "DiscoveryResponse")
		case deltaResponse:
			a.delta(from, doc)
		case resources:
			a.bare(from, doc)
		case grpcBootstrap:
			a.plain(from, doc, "google.protobuf.Struct").resource.Kind = graph.GRPCBootstrap
		}
	}
	if b := from.in.binary; b != nil {
		a.packed(from, b)
	}
	a.broken(from.in, from.source)
}

// bare adds one resource with an "@type", or a list of them.
func (a *assembly) bare(from origin, n *graph.TextNode) {
	if n.Kind != tree.List {
		a.any(from, n)
		return
	}
	from.depth++
	for i := range n.Items {
		a.any(from, &n.Items[i])
	}
}

// envelope adds the resources of a response. Problems of the response itself belong to the file.
func (a *assembly) envelope(from origin, n *graph.TextNode, name protoreflect.Name) {
	rest, inner := *n, from
	inner.depth += 2
	if version := n.Field("version_info"); version != nil {
		inner.version = version.Text
	}
	add := a.any
	if name == "DeltaDiscoveryResponse" {
		add = a.wrapped
	}
	if list := n.Field("resources"); list != nil {
		switch list.Kind {
		case tree.List:
			for i := range list.Items {
				add(inner, &list.Items[i])
			}
			rest = n.With("resources", graph.TextNode{Kind: tree.List})
		case tree.Map: // Envoy reads it as a list of one
			add(inner, list)
			rest = n.With("resources", graph.TextNode{Kind: tree.List})
		}
	}
	a.check(from, &rest, name)
}

// check decodes a message around resources and records its problems. It returns nil if its type is not known.
func (a *assembly) check(from origin, n *graph.TextNode, name protoreflect.Name) protoreflect.Message {
	mt, err := a.types.FindMessageByName(discoveryPackage + protoreflect.FullName(name))
	if err != nil {
		return nil
	}
	d := decode.NewDecoder(a.types)
	d.Format, d.Depth = from.in.format.decoder(), from.depth
	m := mt.New()
	d.DecodeAny(n, m.Interface())
	a.problems(from, d.Problems)
	return m
}

// delta adds the resources of a delta response, which replace older ones of the same name, and notes those that it removes.
func (a *assembly) delta(from origin, n *graph.TextNode) {
	before := len(a.parts)
	inner := from
	a.envelope(inner, n, "DeltaDiscoveryResponse")
	for _, p := range a.parts[before:] {
		p.overlay = true
	}
	list := n.Field("removed_resources")
	if list == nil {
		return
	}
	names := []string{list.Text}
	if list.Kind == tree.List {
		names = nil
		for i := range list.Items {
			names = append(names, list.Items[i].Text)
		}
	}
	url := ""
	if n := n.Field("type_url"); n != nil {
		url = n.Text
	}
	a.remove(from, url, names)
}

// packed adds the resources of a binary file.
func (a *assembly) packed(from origin, b *binary) {
	from.version = b.version
	for i := range b.resources {
		p := &b.resources[i]
		if p.empty {
			continue
		}
		a.packedAny(from, *p).overlay = b.as == deltaResponse
		p.value = nil // so that the file takes memory only until its resources are decoded
	}
	a.remove(from, b.typeURL, b.removed)
}

// remove notes the names that a delta response removes from what was read before it.
func (a *assembly) remove(from origin, url string, names []string) {
	if kind := graph.KindOf(decode.TypeName(url)); kind != "" {
		for _, name := range names {
			a.parts = append(a.parts, &part{resource: &graph.Resource{Kind: kind, Name: name, Source: from.source}, removes: true})
		}
	}
}

type identity struct {
	kind   graph.Kind
	name   string
	source graph.Source
}

// settle applies delta responses in order, after everything else: their resources replace earlier ones, and the removed ones are dropped.
func settle(parts []*part) []*part {
	last := map[identity]*part{}
	for _, p := range parts {
		if p.overlay || p.removes {
			last[p.identity()] = p
		}
	}
	if len(last) == 0 {
		return parts
	}
	var left []*part
	for _, p := range parts {
		over := last[p.identity()]
		if !p.removes && (over == nil || over == p || p.resource.Kind == graph.File) {
			left = append(left, p)
		}
	}
	return left
}

func (p *part) identity() identity {
	return identity{p.resource.Kind, p.resource.Name, p.resource.Source}
}
